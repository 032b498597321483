"""The commands that measure or plan a measurement, and what they print while they run and at the end."""
