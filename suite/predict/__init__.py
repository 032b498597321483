"""Runs the accelerators' own compilers without the accelerators. They say which steps would fit there; the published
peaks say how fast a step could be at best."""
