"""PyTorch with AOTInductor: the forward pass is exported, compiled ahead into a package, and loaded from there.

The package is what the first process leaves in the compile cache. A process with a warm cache loads it, without
PyTorch's compiler in Python.
"""

from __future__ import annotations

import os
from pathlib import Path

from suite.stacks.torch import torch_inductor_adapter as torch_inductor
from suite.stacks.torch.torch_exported_adapter import ExportedAdapter


class Adapter(ExportedAdapter, torch_inductor.Adapter):
    """Weights are inputs of the compiled program, as on all other stacks."""

    compile_seconds = 0.0

    def prepared(self, function, weights, batch):
        """Returns the package of `function(weights, batch)`, which is compiled unless an earlier process has left it in
        the cache."""
        folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        package = folder / f"{function.__name__}-{self.case.precision}.pt2"
        if not package.exists():
            from torch._dynamo.utils import compilation_time_metrics

            folder.mkdir(parents=True, exist_ok=True)
            exported = self.exported(function, weights, batch)
            self.torch._inductor.aoti_compile_and_package(exported, package_path=str(package))
            self.programs_made += 1
            # Of a program that is compiled ahead, all other metrics are parts of this one.
            self.compile_seconds = float(sum(compilation_time_metrics["compile_fx.<locals>.fw_compiler_base"]))
        return package

    def program(self, package, weights):
        from torch.utils import _pytree

        # The package's own call would read the trees of inputs and results from their JSON each time.
        loader, values = self.torch._inductor.aoti_load_package(str(package)).loader, [*weights.values()]
        tree = _pytree.treespec_loads(loader.get_call_spec()[1])
        return lambda batch: _pytree.tree_unflatten(loader.boxed_run([*values, *batch.values()]), tree)

    def counters(self):
        return super().counters() | {"compile_seconds": self.compile_seconds}
