"""IREE: the StableHLO that JAX makes of a step, compiled by IREE's compiler for this machine and run by its runtime.

JAX only traces. Weights, state and inputs are IREE's own buffers, and the training state is donated as to XLA.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from suite.stacks import base, kernels
from suite.stacks.jax import jax_jit_adapter as jax_jit

# What IREE's guide to CPUs recommends; without the last, float64 would be computed in float32.
FLAGS = (
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O2",
    "--iree-opt-data-tiling",
    "--iree-input-demote-f64-to-f32=false",
)


class Program:
    """A function that is traced by JAX and compiled by IREE at its first call with a tree of arguments."""

    def __init__(self, adapter: Adapter, jitted: Any) -> None:
        self.adapter, self.jitted, self.trace = adapter, jitted, jitted.trace
        self.loaded: dict[Any, Any] = {}  # by the tree of arguments

    def __call__(self, *arguments: Any) -> Any:
        adapter, runtime = self.adapter, self.adapter.runtime
        leaves, tree = adapter.jax.tree.flatten(arguments)
        if tree not in self.loaded:
            self.loaded[tree] = self.load(arguments)
        context, function, types, results_tree = self.loaded[tree]
        given, results = runtime.VmVariantList(len(leaves)), runtime.VmVariantList(len(types))
        for leaf in leaves:
            given.push_ref((leaf if isinstance(leaf, runtime.DeviceArray) else adapter.put(leaf))._buffer_view)
        context.invoke(function, given, results)
        views = (results.get_as_object(place, runtime.HalBufferView) for place in range(len(types)))
        arrays = [adapter.array(view, dtype) for view, dtype in zip(views, types, strict=True)]
        return adapter.jax.tree.unflatten(results_tree, arrays)

    def load(self, arguments: Any) -> Any:
        """Returns what calls need: the context and the function in it, the types of the results, and their tree."""
        from iree.compiler import tools

        adapter = self.adapter
        lowered = self.jitted.lower(*adapter.shapes(arguments))
        results, tree = adapter.jax.tree.flatten(lowered.out_info)
        compiled = tools.compile_str(
            lowered.as_text(), target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=FLAGS
        )
        module = adapter.runtime.VmModule.copy_buffer(adapter.config.vm_instance, compiled)
        context = adapter.runtime.SystemContext([module], adapter.config)
        adapter.programs_made += 1
        return context.vm_context, module.lookup_function("main"), [np.dtype(each.dtype) for each in results], tree


class Adapter(jax_jit.Adapter):
    """State: as of `jax_jit`, in IREE's arrays."""

    knobs = ()
    packages = (*jax_jit.Adapter.packages, "iree-base-compiler", "iree-base-runtime")
    holders, profile = base.Adapter.holders, base.Adapter.profile  # JAX's and XLA's know nothing of its programs
    program_memory, compile_on_shapes = base.Adapter.program_memory, base.Adapter.compile_on_shapes

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import iree.runtime

        self.runtime = iree.runtime
        self.compiled, self.programs_made = {}, 0

    @classmethod
    def of(cls, workload):
        return base.Adapter.of.__func__(cls, workload)  # its programs are of modules and functions

    @classmethod
    def environ(cls, case, cache_directory):
        # By default IREE takes one thread for each physical core, and pins them.
        threads = f"--task_topology_group_count={case.threads}"
        return super().environ(case, cache_directory) | {"IREE_PY_RUNTIME_FLAGS": threads}

    def device(self):
        self.config = self.runtime.Config("local-task")
        return super().device() | {"iree_flags": " ".join(FLAGS)}

    def compile(self, function, **options):
        key = (function, *options.items())
        if key not in self.compiled:
            # IREE's function has all arguments: none is dropped because it is unused.
            self.compiled[key] = Program(self, self.jax.jit(function, keep_unused=True, **options))
        return self.compiled[key]

    def build(self, abstract=False):
        super().build(abstract)
        if self.train and self.optimizer:
            self.transform = self.transform._replace(init=partial(self.moments_of, self.compile(self.transform.init)))

    def moments_of(self, init, weights):
        """Returns the optimizer's first state. IREE gives equal results of a program one buffer, and a buffer that is
        donated twice would be written twice: so each gets its own."""
        return self.jax.tree.map(lambda moment: self.put(np.asarray(moment)), init(weights))

    def put(self, value):
        return self.runtime.asdevicearray(self.config.device, value, implicit_host_transfer=True)

    def array(self, view, dtype):
        """Returns a buffer as an array in the type that JAX gives it: IREE has no unsigned integers."""
        return self.runtime.DeviceArray(self.config.device, view, implicit_host_transfer=True, override_dtype=dtype)

    def put_named(self, name, value):
        return self.put(value.astype(self.jax.numpy.bfloat16) if self.types[name] == "bfloat16" else value)

    def wait(self, state, outputs):
        """Does nothing: a call returns when its results are computed."""

    def counters(self):
        counted = {"compiles": self.programs_made, "compile_seconds": None}  # JAX's own are those of its small helpers
        return super().counters() | counted

    def kernels_used(self, logs):
        return [kernels.LibraryUse("IREE")]
