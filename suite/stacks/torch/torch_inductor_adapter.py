"""PyTorch with torch.compile: forward and loss are traced whole, and Inductor generates C++ or Triton kernels."""

from __future__ import annotations

import os
import sys

from suite.ir import files
from suite.stacks import base, kernels
from suite.stacks.base import Unsupported
from suite.stacks.knobs import FROZEN
from suite.stacks.torch import mkl_path
from suite.stacks.torch import torch_eager_adapter as torch_eager


class Adapter(torch_eager.Adapter):
    """The loss is inside the compiled region and AOTAutograd compiles its backward pass with it."""

    model = None  # until it is built
    knobs = (*torch_eager.Adapter.knobs, FROZEN)

    def __init__(self, case, workload):
        super().__init__(case, workload)
        if FROZEN.name in self.tuned:
            from torch._inductor import config

            config.freezing = True  # for the whole process, since Dynamo, too, reads it

    def has_frozen_weights(self):
        return FROZEN.name in self.tuned

    def load(self, parameters):
        if self.has_frozen_weights():  # in the programs of earlier weights, which must compute nothing more
            from torch._inductor.codecache import PyCodeCache

            self.torch._dynamo.reset()
            PyCodeCache.cache_clear()
        super().load(parameters)

    @classmethod
    def environ(cls, case, cache_directory):
        # Always set: Inductor's default folder is shared by all processes of a user.
        return super().environ(case, cache_directory) | {
            "TORCHINDUCTOR_CACHE_DIR": f"{cache_directory}/inductor",
            "TRITON_CACHE_DIR": f"{cache_directory}/triton",
        }

    @classmethod
    def profile_environ(cls, case, cache_directory):
        # The profiler then shows generated kernels by their names, which say what is fused in them.
        return super().profile_environ(case, cache_directory) | {"TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1"}

    def device(self):
        for path in (os.environ["TORCHINDUCTOR_CACHE_DIR"], sys.prefix):
            if " " in path and self.case.target == "cpu":
                raise Unsupported(f"Inductor passes paths to the C++ compiler unquoted, and there is a space in {path}")
        return super().device()

    def compile(self, function):
        # A graph break is an error, not a slow row. It is counted where users would compile so: of a question, and of a
        # model with nn.LSTM or its kin, before which Dynamo breaks, so that the layer runs as in eager mode. Dynamo's
        # experimental `allow_rnn` traces it, but its training step fails in PyTorch 2.15 (mkldnn_rnn_layer).
        return self.torch.compile(function, fullgraph=not (self.case.implementation or self.is_recurrent()))

    def is_recurrent(self):
        """Whether the model is built and has a recurrent layer of PyTorch's."""
        return self.model is not None and any(isinstance(m, self.torch.nn.RNNBase) for m in self.model.modules())

    def compile_on_shapes(self, parameters, batch):
        return base.Adapter.compile_on_shapes(self, parameters, batch)  # eager's count isn't what its kernels hold

    def jit(self, function, static=()):
        from torch._inductor import config

        # Only probes call this. By default Inductor first compiles and loads a test program for each instruction set of
        # the CPU, which takes longer than a whole probe (docs/why/method.md has the figure). This setting skips that.
        config.cpp.vec_isa_ok = True
        return self.torch.compile(function)  # without `fullgraph`: probes observe what happens at a graph break

    def probe_counters(self):
        from torch._dynamo.utils import counters, graph_break_reasons

        # Graph breaks of every kind (torch._dynamo's own counter leaves some out), and functions that it gave up on.
        frames = counters["frames"]
        return {"graph_breaks": len(graph_break_reasons), "skipped": frames["total"] - frames["ok"]}

    def programs(self, caches):
        return files.generated(caches / "inductor")

    def kernels_used(self, logs):
        if self.case.target != "cpu":
            return []
        from torch._inductor.cpu_vec_isa import pick_vec_isa

        written = "".join(path.read_text() for path in (logs.folder / "inductor").rglob("*.py"))
        libraries = kernels.libraries(logs, mkl_path.named(self.tuned))
        generated = kernels.LibraryUse("Inductor", str(pick_vec_isa()), written.count("async_compile.cpp"))
        return [*libraries, *([generated] if generated.calls else []), super().kernels_used(logs)[-1]]

    def counters(self):
        return super().counters() | compiled()


def compiled():
    """Returns the counters of what `torch.compile` has compiled in this process."""
    from torch._dynamo.utils import compilation_time_metrics, counters

    return {
        "compiles": counters["stats"]["unique_graphs"],
        "compile_seconds": float(sum(compilation_time_metrics.get("_compile.compile_inner", []))),
        "graph_breaks": sum(counters["graph_break"].values()),
    }
