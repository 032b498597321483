"""A question file as a workload.

The file has `inputs`, whose parameters are the dims, and implementations: functions whose names begin with a dialect
(`torch_naive` is the implementation `naive` in PyTorch). It may have `parameters`, `reference`, `canonical`, `loss`,
`numpy_<name>_gradient`, TOLERANCE and NOT_ON. docs/how-to/ask.md shows all of them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from suite.case import ARRAY_API, DIM_MAX, PARALLEL, Case, function_name
from suite.errors import UserError, at_line, check_known, near_match
from suite.workloads import digests, trees
from suite.workloads.catalog import CaseTensors, Workload, load_module, name_of
from suite.workloads.questions.arguments import in_layout, inputs_of, reference, returning_trees, scalar, tensors_of
from suite.workloads.questions.functions import (
    CARRIED,
    FORMS,
    GRADIENT,
    MODEL,
    OPTIMIZER,
    REFERENCE,
    SETUP,
    belonging,
    check_arguments,
    check_steps,
    has_model,
    implementations,
    right_function,
)
from suite.workloads.questions.loading import beside, imported, loaded, may_judge
from suite.workloads.questions.models import MODELS, OWN, ModelForm, ModelLeaf, tensors
from suite.workloads.questions.ports.weights import ported
from suite.workloads.questions.settings import SETTINGS, check_settings
from suite.workloads.statements import defined, parsed
from suite.workloads.tensors import Stored, Tensor, nbytes

SIZE = "asked"  # the one size of a question: its file's own dims
HERE = Path(__file__).parent
# Types, by dialect.
LACKING = {
    "numpy": frozenset({"bfloat16"}),
    "numba": frozenset({"bfloat16", "float16"}),
    "torch": frozenset({"uint16", "uint32"}),
}
COMPATIBLE = "array_api_compat"  # the package by which PyTorch follows the array API standard
ASKED = ("inputs", "parameters", "canonical")


@dataclass(frozen=True, slots=True)
class Question(Workload):
    """A question file. `folder` is the file, `spec` what stands for a spec, `module` the file's part that says what is
    asked, and `written` {dialect: names of its implementations}, in the order of the file. An implementation is loaded
    where it runs."""

    module: ModuleType
    written: Mapping[str, tuple[str, ...]]
    defined: frozenset[str]  # the names at the top of the file
    right: str  # the name of the function that says what is right; empty without one
    has_model: bool
    # The model's parameters and buffers, in a process that measures it.
    found: tuple[Mapping[str, Tensor], Mapping[str, Tensor]] = field(default=({}, {}))
    leaves: tuple[ModelLeaf, ...] = ()
    layout: Mapping[str, str] = field(default_factory=dict)  # of the case's dialect

    @property
    def judging(self) -> tuple[str, ...]:
        """Returns the names of what says what is right."""
        return self.right, "loss"

    def implementations(self, dialect: str) -> tuple[str, ...]:
        return self.written.get(dialect, ())

    @property
    def is_question(self) -> bool:
        return True

    @property
    def dialects(self) -> tuple[str, ...]:
        return tuple(self.written)

    @property
    def digests(self) -> dict[str, str]:
        own = beside(self.folder)
        functions = [function_name(dialect, name) for dialect, names in self.written.items() for name in names]
        return {
            "asked": digests.of_names(self.folder, (*ASKED, *SETTINGS, *self.judging)),
            **{name: digests.of_names(self.folder, belonging(name), own) for name in functions},
        }

    def imports(self, dialect: str) -> frozenset[str]:
        functions = [function_name(dialect, name) for name in self.implementations(dialect)]
        names = [each for name in functions for each in belonging(name)]
        needed = imported(self.folder, (*names, *ASKED, *self.judging))
        # NumPy and JAX follow the array API standard by themselves.
        standard = dialect == "torch" and any(name.startswith(ARRAY_API) for name in functions)
        return needed | {COMPATIBLE} if standard else needed

    @property
    def has_step(self) -> bool:
        return hasattr(self.module, CARRIED)

    @property
    def unit(self) -> str:
        return "calls"

    def items(self, dims: Mapping[str, int]) -> int:
        return 1

    def arguments(self, dims: Mapping[str, int]) -> dict[str, Any]:
        tree = inputs_of(self.module, self.folder, dims)
        return in_layout(tree, self.layout, f"LAYOUT of {self.folder}") if self.layout else tree

    def data_files(self, dims: Mapping[str, int]) -> list[Path]:
        """Returns the files of `from_file`, and those of the modules beside the file that it imports."""
        stored = [t.path for t in tensors_of(self.arguments(dims)).values() if isinstance(t, Stored)]
        return stored + beside(self.folder)

    def tensors(self, dims: Mapping[str, int], pass_: str) -> CaseTensors:
        """Returns the tensors of a pass. Where gradients are taken, what they are taken of are its parameters."""
        batch = tensors_of(self.arguments(dims))
        if self.has_model or (pass_ != "gradient" and not self.has_step):
            parameters, buffers = self.found
            return CaseTensors(dict(parameters), dict(buffers), batch)
        named = getattr(self.module, "parameters", None)
        if self.has_step:
            tree = self.arguments(dims)
            of = tensors_of({name: tree[name] for name in getattr(self.module, CARRIED)})
        elif named:
            of = tensors_of(named(**dims))
        else:
            of = {name: tensor for name, tensor in batch.items() if tensor.differentiable}
        return CaseTensors(of, {}, {name: tensor for name, tensor in batch.items() if name not in of})

    def code(self, dialect: str, family: str, case: Case) -> Any:
        """Returns the code of one implementation in the form of a dialect's own file. `family` is the dialect in whose
        form the adapter takes it."""
        tree, name = self.arguments(case.dims), function_name(dialect, case.implementation)
        nested = any(isinstance(branch, (dict, list, tuple)) for branch in tree.values())
        plain = {key: value for key, value in tree.items() if not isinstance(value, Tensor)}
        of_inputs = partial(trees.filled, tree) if nested else (lambda named: plain | named) if plain else dict
        if self.has_model:
            return self.of_model(dialect).code(of_inputs)
        form = load_module(HERE / "dialects" / f"question_{family}.py")
        module = loaded(self.folder, belonging(name))
        if not callable(function := getattr(module, name)):
            raise UserError(f"{self.folder}: {name} isn't a function.")
        if self.has_step:
            setup = getattr(module, f"{dialect}{SETUP}")
            return form.stepping(setup, function, of_inputs, getattr(self.module, CARRIED))
        if name.startswith(ARRAY_API):
            function = partial(function, form.namespace())
        parameters = self.tensors(case.dims, case.pass_).parameters
        if family == "numba":
            return form.code(function, of_inputs, parallel=case.implementation.endswith(PARALLEL))
        function = returning_trees(function, module)
        own = f"numpy_{case.implementation}{GRADIENT}"
        further = {"gradient": getattr(module, own, None)} if family == "numpy" else {}
        return form.code(function, of_inputs, partial(scalar, module), parameters, **further)

    def of_case(self, dialect: str, case: Case, weights: Path | None = None) -> Question:
        """Returns the question as one case asks it, in the process that measures it: of a model with the parameters
        that are found in it, and with the model itself, in float64, as reference. `weights` is the file that says which
        of the first model's a port has."""
        if not self.has_model:
            return self
        asked = replace(self, layout=getattr(self.module, "LAYOUT", {}).get(dialect, {}))
        model, tree = self.of_model(dialect), asked.arguments(case.dims)
        spec = SimpleNamespace(**vars(self.spec))
        spec.OPTIMIZER = OWN if case.pass_ == "train" else None
        if not hasattr(spec, "reference"):
            spec.exact = partial(model.exact, partial(trees.filled, tree), case.pass_)
        leaves = model.leaves(tree)
        is_port = weights is not None and dialect != self.dialects[0]
        found = ported(leaves, weights) if is_port and weights else tensors(leaves)
        return replace(asked, spec=spec, found=found, leaves=tuple(leaves))

    @property
    def has_ports(self) -> bool:
        """Whether it has several models, which must compute the same."""
        return self.has_model and len(self.written) > 1

    def of_model(self, dialect: str) -> ModelForm:
        module = loaded(self.folder, belonging(f"{dialect}{MODEL}"))
        return ModelForm(load_module(HERE / "dialects" / f"model_{dialect}.py"), module, dialect)

    def unsupported(self, dialect: str, case: Case) -> str | None:
        """Returns the reason why a dialect can't run a case; None if it can."""
        if case.pass_ == "train" and "train" not in self.spec.PASSES:
            wanted = " and no ".join(f"{each}{OPTIMIZER}" for each in self.written)
            how = f"its file has no {wanted}" if self.has_model else "only files with a model or with steps have one"
            return f"{self.name} has no train pass: {how}"
        types = {tensor.dtype for tensor in tensors_of(self.arguments(case.dims)).values()}
        if lacking := sorted(types & LACKING.get(dialect, frozenset())):
            return (
                f"NumPy has no {lacking[0]}" if dialect == "numpy" else f"{dialect} computes nothing with {lacking[0]}"
            )
        if self.has_model:
            return None
        if self.has_step and case.precision != "f32":
            return "a step of the file's own computes in the types that it is written in"
        if case.pass_ == "gradient" and not self.tensors(case.dims, "gradient").parameters:
            return "no input is a floating-point one, so there is nothing to take gradients of"
        own = f"numpy_{case.implementation}{GRADIENT}"
        if case.pass_ == "gradient" and dialect == "numpy" and own not in self.defined:
            return f"NumPy takes no gradients, and {self.folder.name} has no {own}"
        return None


def load(path: Path) -> Question:
    """Returns the workload of a question file. Raises UserError, with the file's own line, if it isn't one."""
    path = path.resolve()
    if not path.is_file():
        near = near_match(path.name, (file.name for file in path.parent.glob("*.py")))
        raise UserError(f"There is no file {path}.{f' Did you mean {near}?' if near else ''}")
    try:
        text = parsed(path)
    except SyntaxError as broken:
        raise UserError(f"{path} can't be loaded: {at_line(broken, path)}.") from broken
    functions = implementations(text, path)
    module = loaded(path, (*ASKED, *SETTINGS))
    if not callable(getattr(module, "inputs", None)):
        raise UserError(f"{path} has no function `inputs`, which returns the named inputs. See docs/how-to/ask.md.")
    if not functions:
        raise UserError(
            f"{path} has no implementation: a function whose name begins with {'_, '.join(FORMS)}_ and "
            "goes on with a name of yours, like torch_naive. See docs/how-to/ask.md."
        )
    check_settings(module, text, path)
    dims = dims_of(module, path)
    tree = inputs_of(module, path, dims)
    for name in getattr(module, "STATIC", ()):
        if name not in tree or tensors_of({name: tree[name]}):
            raise UserError(f'{path}: STATIC names "{name}", which isn\'t a plain value that `inputs` returns.')
    carried = getattr(module, CARRIED, ())
    if carried:
        check_steps(functions, carried, tree, text, path)
    for function in functions if not carried else ():
        check_arguments(path, tree, function)
    for dim in getattr(module, "GROWS", ()):
        check_known("dim", dim, dims, of=f"GROWS of {path}")
    written: dict[str, tuple[str, ...]] = {}
    for dialect, name in (each for function in functions for each in function.implements):
        written[dialect] = (*written.get(dialect, ()), name)
    right = "" if carried else right_function(text, functions)
    right = right if right == REFERENCE or may_judge(right, path) else ""
    is_model = has_model(functions, MODELS, path)
    for dialect, layout in getattr(module, "LAYOUT", {}).items():
        check_known("model's dialect", dialect, written if is_model else (), of=f"LAYOUT of {path}")
        in_layout(tree, layout, f"LAYOUT of {path}")
    learns = is_model and any(
        f"{function.name.removesuffix(MODEL)}{OPTIMIZER}" in defined(text) for function in functions
    )
    passes = ("train",) if carried else ("forward", "gradient", *(("train",) if learns else ()))
    spec = spec_of(module, path, dims, right, passes, has_model=is_model)
    return Question(name_of(path), path, spec, module, written, defined(text), right, is_model)


def spec_of(
    module: ModuleType, path: Path, dims: Mapping[str, int], right: str, passes: tuple[str, ...], *, has_model: bool
) -> Any:
    """Returns what a spec says, of a question file. `right` names the function that says what is right."""
    spec = SimpleNamespace(
        TITLE=(ast.get_docstring(parsed(path)) or path.stem).strip().splitlines()[0],
        SIZES={SIZE: dims},
        PASSES=passes,
        OPTIMIZER=OWN if "train" in passes else None,
        NOT_ON=getattr(module, "NOT_ON", {}),
        ASKED_TOLERANCE=getattr(module, "TOLERANCE", None),
        GROWS=getattr(module, "GROWS", ()),
        HAS_MODEL=has_model,
        flops=lambda dims, pass_: None,
        bytes_floor=lambda dims, pass_: nbytes(tensors_of(inputs_of(module, path, dims))),
    )
    if hasattr(module, "canonical"):
        spec.canonical = module.canonical
    if right:
        spec.reference = partial(reference, module, path, right)
    return spec


def dims_of(module: ModuleType, path: Path) -> dict[str, int]:
    """Returns the dims: the parameters of `inputs`, with their defaults. Raises UserError for one that is no dim."""
    dims = {}
    for name, parameter in inspect.signature(module.inputs).parameters.items():
        value = parameter.default
        if type(value) is not int or not 1 <= value <= DIM_MAX:
            raise UserError(
                f"{path}: a parameter of `inputs` is a dim, and its default a whole number from 1 to {DIM_MAX:,}, like "
                f"rows=8192; that of {name} isn't."
            )
        dims[name] = value
    return dims
