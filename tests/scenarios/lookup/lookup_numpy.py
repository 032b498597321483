import numpy as np


def forward(dims, parameters, at):
    return parameters["table"][at]


def loss_and_gradients(dims, parameters, at, target):
    off = forward(dims, parameters, at) - target
    gradient = np.zeros_like(parameters["table"])
    np.add.at(gradient, at, off * np.float32(2 / off.size))
    return np.mean(off**2), {"table": gradient}
