"""Finds out what this machine is, has and reaches, and how quiet it is."""
