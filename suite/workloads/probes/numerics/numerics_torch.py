"""PyTorch: operators and methods of tensors."""

import torch


def product(x, y):
    return x @ y


def product_bf16(x, y):
    return (x.bfloat16() @ y.bfloat16()).float()


def total(x):
    return x.sum()


def larger(x, y):
    return torch.maximum(x, y)


def largest(rows):
    return rows.amax(dim=1)


def comparisons(x, y):
    return x == y, x != y, x < y, x >= y


def multiplied(x, y):
    return x * y


def exponential(x):
    return torch.exp(x)


def plus_one(x):
    return x + 1


def to_int32(x):
    return x.to(torch.int32)


def divided(x, y):
    return x // y


FUNCTIONS = {
    "matmul": product,
    "matmul_bf16": product_bf16,
    "sum": total,
    "nan_maximum": larger,
    "nan_max": largest,
    "nan_max_large": largest,
    "nan_compare": comparisons,
    "subnormal": multiplied,
    "overflow": exponential,
    "int_overflow": plus_one,
    "float_to_int": to_int32,
    "divide_by_zero": divided,
}


def run(stack, recorder):
    spec = stack.workload.spec
    for aspect, function in FUNCTIONS.items():
        operands = spec.given(aspect, stack.dims)
        arguments = [stack.put(operand) for operand in operands]
        seen = recorder.watch(lambda function=function, arguments=arguments: stack.jit(function)(*arguments))
        results = seen.value if isinstance(seen.value, tuple) else (seen.value,)
        told = {} if seen.error else spec.figures(aspect, operands, [stack.fetch(result) for result in results])
        recorder.tell(aspect, function, seen, words=spec.spoken(told), seconds=None, **told)
