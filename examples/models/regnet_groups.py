# /// script
# requires-python = ">=3.11"
# dependencies = ["torchvision"]
# ///
"""Are RegNet's convolutions in groups slower under XLA than under PyTorch, as people report?"""

from suite.ask import normal


def inputs(batch=2, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import torchvision

    return torchvision.models.regnet_y_400mf(num_classes=10)
