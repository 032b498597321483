"""The stacks that run TensorFlow."""
