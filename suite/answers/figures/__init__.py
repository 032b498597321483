"""Geometry of the figures, in percent of their width; the templates draw them."""
