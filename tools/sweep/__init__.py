"""A sweep of small questions: one line of arithmetic each, drawn values, every stack, and NumPy's answer."""
