"""The commands that measure or plan a measurement, and what they print meanwhile and at the end."""
