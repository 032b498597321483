"""Tries a user's reference before anything is measured: does it run, and is what it says a number?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from suite.errors import UserError, at_line
from suite.workloads import trees
from suite.workloads.catalog import Workload
from suite.workloads.tensors import exact, generate_all, nbytes

BYTES_MAX = 1 << 22  # of inputs: larger ones aren't tried, because a reference may be slow


def doubts(workloads: Iterable[Workload]) -> Iterator[str]:
    """Yields a sentence for each workload from outside whose reference has values that aren't finite, at its first size
    and for its first inputs. Raises UserError with the line of a reference that fails, and for one without any finite
    value, which nothing can be compared with."""
    for workload in workloads:
        if workload.is_probe or workload.is_ours or not hasattr(workload.spec, "reference"):
            continue
        size, dims = next(iter(workload.sizes.items()))
        tensors = workload.tensors(dims, "forward")
        groups = {"parameter": tensors.parameters | tensors.buffers, "batch": tensors.batch}
        if sum(map(nbytes, groups.values())) > BYTES_MAX:
            continue
        parameters, batch = (
            {name: exact(value) for name, value in generate_all(group, kind, seed=0)} for kind, group in groups.items()
        )
        try:
            with np.errstate(all="ignore"):
                answer = workload.spec.reference(dims, parameters, **batch, target=None)
        except UserError as refused:
            if isinstance(refused.__cause__, ModuleNotFoundError):
                continue  # of a package that only the measured environments have: it is tried there
            raise
        except Exception as broken:
            raise UserError(
                f"The reference of {workload.folder} failed: {at_line(broken, workload.folder)}."
            ) from broken
        if not isinstance(answer, dict) or "output" not in answer:
            raise UserError(
                f'The reference of {workload.folder} returns a dict with "output", an array or a tree of them.'
            )
        leaves = [np.asarray(leaf) for _, leaf in trees.leaves(answer["output"])]
        odd = sum(int(np.count_nonzero(~np.isfinite(leaf))) for leaf in leaves if leaf.dtype.kind in "fc")
        of = sum(math.prod(leaf.shape) for leaf in leaves)
        values = f"{odd:,} of its {of:,} values at size {size} are NaN or infinite"
        said = f"The reference of {workload.name} isn't finite: {values}"
        if odd and odd == of and not workload.is_question:
            raise UserError(f"{said}, so nothing can be compared with it.")
        if odd:
            yield f"{said}. They are compared by place and sign."
