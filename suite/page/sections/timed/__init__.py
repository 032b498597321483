"""The sections on timed processes: comparisons of stacks, and the tables across comparisons."""
