"""The stack that runs PyTorch's exported programs by OpenVINO."""
