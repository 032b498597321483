"""Finds the release of a framework that made a stack slower."""
