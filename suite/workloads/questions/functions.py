"""The implementations of a question file, found in its text: a decorated function is something else in each
environment."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from suite.case import ARRAY_API, PARALLEL
from suite.errors import UserError, check_known
from suite.workloads.catalog import DIALECTS
from suite.workloads.statements import defined

CARRIED = "CARRIED"  # names the inputs that steps change
GRADIENT, REFERENCE = "_gradient", "reference"
MODEL = "_model"  # `torch_model()` returns a module, which takes the arguments
LOSS, OPTIMIZER = "_loss", "_optimizer"  # `torch_loss(outputs, …)` and `torch_optimizer(parameters)` of that module
SETUP, STEP = "_setup", "_step"  # `torch_setup(…)` makes the state that each `torch_step(…)` hands to the next
STEPPING = ("torch", "jax")  # dialects with such steps
ARRAY_APIS = ("numpy", "torch", "jax")  # dialects that run a function by the array API standard, xp_naive(xp, …)
FORMS = (*DIALECTS, "keras", "numba", ARRAY_API[:-1])  # how a function's name begins
OTHERS = ("cupy", "mlx", "paddle", "tinygrad", "triton", "tvm")  # frameworks that no stack runs


@dataclass(frozen=True, slots=True)
class Function:
    """An implementation in a file. `takes` are its parameters; None where another function makes it, like
    `torch_a = torch.compile(plain)`."""

    name: str
    line: int
    takes: ast.arguments | None

    @property
    def is_model(self) -> bool:
        """Whether it makes a model: it takes nothing, and is called like one."""
        takes = self.takes
        return (
            self.name.endswith(MODEL) and takes is not None and not (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)
        )

    @property
    def implements(self) -> list[tuple[str, str]]:
        """Returns (dialect, implementation) of what it is."""
        if self.name.startswith(ARRAY_API):
            return [(dialect, self.name) for dialect in ARRAY_APIS]
        dialect, _, name = self.name.partition("_")
        return [(dialect, name)]


def implementations(file: ast.Module, path: Path) -> list[Function]:
    """Returns the implementations, in the order of the file. Raises UserError for a function of a framework that no
    stack runs. In a file with a model, `torch_loss` and `torch_optimizer` are the model's."""
    functions = {name for statement in file.body if isinstance(statement, ast.FunctionDef) for name in [statement.name]}
    found = []
    for statement in file.body:
        function = function_of(statement, functions)
        if function is None:
            continue
        functions.add(function.name)
        dialect, _, name = function.name.partition("_")
        if name.endswith(GRADIENT):
            continue
        if name and dialect in OTHERS:
            raise UserError(
                f"{path}, line {function.line}: no stack runs {function.name}; a function is of {', '.join(FORMS)}."
            )
        if name and dialect in FORMS:
            if name.startswith(ARRAY_API):
                raise UserError(
                    f"{path}, line {function.line}: {function.name} would be called like {name}, a function by the "
                    "array API standard, which more than one dialect runs: rename it."
                )
            found.append(function)
            # Of a function that the file itself compiles, all is said.
            if dialect == "numba" and not (function.is_model or getattr(statement, "decorator_list", True)):
                found.append(replace(function, name=f"{function.name}{PARALLEL}"))
    beside: tuple[str, ...] = (LOSS[1:], OPTIMIZER[1:]) if any(function.is_model for function in found) else ()
    beside += (SETUP[1:],) if CARRIED in defined(file) else ()
    return [function for function in found if function.name.partition("_")[2] not in beside]


def function_of(statement: ast.stmt, functions: Collection[str]) -> Function | None:
    """Returns the function that a statement defines: by `def`, as a lambda, or by a call that takes one of the file's
    `functions`; None if it defines none."""
    if isinstance(statement, ast.FunctionDef):
        return Function(statement.name, statement.lineno, statement.args)
    if not (isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name)):
        return None
    value = statement.value
    if isinstance(value, ast.Lambda):
        return Function(target.id, statement.lineno, value.args)
    taken = [value, *value.args] if isinstance(value, ast.Call) else [value]
    makes = any(isinstance(each, ast.Lambda) or getattr(each, "id", None) in functions for each in taken)
    return Function(target.id, statement.lineno, None) if makes else None


def has_model(functions: Sequence[Function], known: Sequence[str], path: Path) -> bool:
    """Whether a file has a model. Raises UserError for one of a dialect that isn't `known`, and for one beside
    functions that aren't models: nothing would show that they compute the same."""
    model = next((function for function in functions if function.is_model), None)
    if model is None:
        return False
    for function in functions:
        dialect = function.name.removesuffix(MODEL)
        if not function.is_model:
            raise UserError(
                f"{path}, line {function.line}: beside {model.name} there is {function.name}, which is no model, so "
                "nothing shows that both compute the same: ask it in a file of its own."
            )
        if dialect not in known:
            of = f"{', '.join(known[:-1])} or {known[-1]}"
            raise UserError(f"{path}, line {function.line}: a model is of {of} as yet; {function.name} isn't.")
        if dialect == "keras" and len(functions) > 1:
            raise UserError(
                f"{path}, line {function.line}: {function.name} runs on all of Keras's backends, and isn't compared "
                "with a port as yet: ask it in a file of its own."
            )
    return True


def belonging(name: str) -> tuple[str, ...]:
    """Returns the names of a file that a function needs: its own, and those of its gradient or, of a model, of its loss
    and optimizer; of a step, its setup."""
    dialect, _, own = name.partition("_")
    if own != MODEL[1:]:
        setup = [f"{dialect}{SETUP}"] if own == STEP[1:] else []
        return name, f"{name}{GRADIENT}", f"numpy_{name}{GRADIENT}", "loss", *setup
    return name, f"{dialect}{LOSS}", f"{dialect}{OPTIMIZER}", "loss"


def check_steps(
    functions: Iterable[Function], carried: Iterable[str], tree: Mapping[str, Any], file: ast.Module, path: Path
) -> None:
    """Raises UserError for a function that isn't a step with its setup, in a file that says which inputs of the `tree`
    steps carry."""
    for name in carried:
        check_known("input", name, tree, of=f"{CARRIED} of {path}")
    for function in functions:
        dialect, _, name = function.name.partition("_")
        if f"_{name}" != STEP or dialect not in STEPPING or f"{dialect}{SETUP}" not in defined(file):
            raise UserError(
                f"{path}, line {function.line}: a file with {CARRIED} has a setup and a step in "
                f"{' or '.join(STEPPING)}, like torch_setup and torch_step; {function.name} isn't such a step."
            )


def right_function(file: ast.Module, functions: Iterable[Function]) -> str:
    """Returns the name of the function that says what is right: `reference`, else the first of NumPy; empty without
    one."""
    if REFERENCE in defined(file):
        return REFERENCE
    return next((each.name for each in functions if each.name.startswith("numpy_")), "")


def check_arguments(path: Path, tree: Mapping[str, Any], function: Function) -> None:
    """Raises UserError, with its line, for an implementation that doesn't take the arguments that `inputs` returns."""
    takes = function.takes
    if takes is None or function.is_model:
        return
    of_standard = function.name.startswith(ARRAY_API)  # its first argument is the namespace
    names = [it.arg for it in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)]
    required = names[of_standard : len(takes.posonlyargs + takes.args) - len(takes.defaults)]
    names = names[of_standard:]
    lacking = [name for name in tree if name not in names] if takes.kwarg is None else []
    if lacking or (unknown_ := [name for name in required if name not in tree]):
        wrong = f"doesn't take {lacking[0]}" if lacking else f"takes {unknown_[0]}, which isn't one of them"
        raise UserError(
            f"{path}, line {function.line}: a function takes {'the array namespace first, and ' if of_standard else ''}"
            f"all that `inputs` returns, by name ({', '.join(tree)}); {function.name} {wrong}."
        )
