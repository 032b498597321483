"""The stack that runs NumPy."""
