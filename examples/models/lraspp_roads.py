# /// script
# requires-python = ">=3.11"
# dependencies = ["torchvision"]
# ///
"""How fast is segmentation with a MobileNet on each stack, with the images scaled up at the end?"""

from suite.ask import normal


def inputs(batch=2, side=112):
    return {"input": normal(batch, 3, side, side)}


def torch_model():
    import torchvision

    return torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=19)
