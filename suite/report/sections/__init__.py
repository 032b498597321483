"""A module for each section of the report: what it shows, as plain data."""
