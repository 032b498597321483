"""A step with a derivative inside: the forces of a pair potential, by autodiff and by hand. jax-ml/jax#1832"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import normal

TOLERANCE = 1e-4


def inputs(atoms=256):
    return {"x": normal(atoms, 3, sigma=5.0)}


def torch_autograd(x):
    x = x.detach().requires_grad_()
    energy = torch.exp(-(x[:, None] - x[None]).square().sum(-1)).sum()
    return -torch.autograd.grad(energy, x)[0]


def torch_by_hand(x):
    apart = x[:, None] - x[None]
    return 4.0 * (apart * torch.exp(-apart.square().sum(-1, keepdim=True))).sum(1)


def jax_grad(x):
    return -jax.grad(lambda x: jnp.exp(-jnp.square(x[:, None] - x[None]).sum(-1)).sum())(x)


def jax_by_hand(x):
    apart = x[:, None] - x[None]
    return 4.0 * (apart * jnp.exp(-jnp.square(apart).sum(-1, keepdims=True))).sum(1)
