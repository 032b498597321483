"""The stacks that run TorchTPU, native PyTorch on TPUs."""
