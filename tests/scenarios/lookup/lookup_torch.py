import torch


class Model(torch.nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = torch.nn.Parameter(torch.empty(rows, width))

    def forward(self, at):
        return self.table[at]


def loss(model, at, target):
    return torch.nn.functional.mse_loss(model(at), target)
