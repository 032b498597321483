"""A question file, with `inputs` and functions, made a workload. Needs the standard library and NumPy."""
