"""The stack that runs torchax."""
