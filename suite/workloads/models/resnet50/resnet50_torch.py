"""resnet50 in PyTorch. Legend: B = batch, D = channels, R = rows, C = columns, K = classes."""

import torch.nn.functional as F
from torch import nn


class ConvNorm(nn.Module):
    def __init__(self, inputs, outputs, size, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-5, momentum=0.1)

    def forward(self, x_BDRC):
        return self.norm(self.conv(x_BDRC))


class Bottleneck(nn.Module):
    def __init__(self, inputs, narrow, stride, shortcut):
        super().__init__()
        wide = 4 * narrow
        self.reduce = ConvNorm(inputs, narrow, 1)
        self.spatial = ConvNorm(narrow, narrow, 3, stride)
        self.expand = ConvNorm(narrow, wide, 1)
        # The first of a stage changes the shape, so its input can't be added as it is.
        self.shortcut = ConvNorm(inputs, wide, 1, stride) if shortcut else nn.Identity()

    def forward(self, x_BDRC):
        y_BDRC = F.relu(self.reduce(x_BDRC), inplace=True)
        y_BDRC = F.relu(self.spatial(y_BDRC), inplace=True)
        y_BDRC = self.expand(y_BDRC)
        y_BDRC += self.shortcut(x_BDRC)
        return F.relu(y_BDRC, inplace=True)


def stage(inputs, narrow, blocks, stride):
    first = Bottleneck(inputs, narrow, stride, shortcut=True)
    return nn.Sequential(first, *(Bottleneck(4 * narrow, narrow, 1, shortcut=False) for _ in range(blocks - 1)))


class Model(nn.Module):
    def __init__(self, classes, width, blocks1, blocks2, blocks3, blocks4, **_):
        super().__init__()
        self.stem = ConvNorm(3, width, 7, stride=2)
        self.stage1 = stage(width, width, blocks1, stride=1)
        self.stage2 = stage(4 * width, 2 * width, blocks2, stride=2)
        self.stage3 = stage(8 * width, 4 * width, blocks3, stride=2)
        self.stage4 = stage(16 * width, 8 * width, blocks4, stride=2)
        self.classifier = nn.Linear(32 * width, classes)

    def forward(self, image):
        x_BDRC = F.relu(self.stem(image), inplace=True)
        x_BDRC = F.max_pool2d(x_BDRC, 3, stride=2, padding=1)
        x_BDRC = self.stage4(self.stage3(self.stage2(self.stage1(x_BDRC))))
        return self.classifier(x_BDRC.mean(dim=(2, 3)))


def loss(model, image, target):
    return F.cross_entropy(model(image), target.long())  # class indices must be int64
