"""The stacks that run PyTorch on its own."""
