"""The probe `numerics` in PyTorch: a function for each aspect that frameworks write in their own way."""

import torch


def product_bf16(x, y):
    return (x.bfloat16() @ y.bfloat16()).float()


def total(x):
    return x.sum()


def larger(x, y):
    return torch.maximum(x, y)


def largest(rows):
    return rows.amax(dim=1)


def largest_of_columns(rows):
    return rows.amax(dim=0)


def exponential(x):
    return torch.exp(x)


def to_int32(x):
    return x.to(torch.int32)


FUNCTIONS = {
    "matmul_bf16": product_bf16,
    "sum": total,
    "nan_maximum": larger,
    "nan_max": largest,
    "nan_max_large": largest,
    "nan_max_columns": largest_of_columns,
    "overflow": exponential,
    "float_to_int": to_int32,
}


def run(stack, recorder):
    recorder.spec.observe(recorder, FUNCTIONS)
