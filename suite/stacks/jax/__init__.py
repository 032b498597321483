"""The stacks that run JAX."""
