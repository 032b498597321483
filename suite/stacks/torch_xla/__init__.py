"""The stack that runs PyTorch/XLA."""
