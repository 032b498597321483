"""The accelerators' own compilers, without the accelerators: what fits, and how fast a step could at best be."""
