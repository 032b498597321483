"""Turns a result set into one HTML page, and into the tables and data of the console, Markdown, CSV and JSON."""
