"""Imports the framework of a locked environment for an accelerator, and compiles a small program for the accelerator as
far as this framework can without it: `python -m tests.environments.ahead_of_time ENVIRONMENT TARGET`.

Prints a line of JSON about what was imported and compiled. It runs in the locked environment, without pytest.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from suite.predict.devices import find
from tests.environments import libtpu_compiler

# So that libtpu asks no cloud about a virtual machine, and no framework looks for the accelerator.
os.environ |= {
    "JAX_PLATFORMS": "cpu",
    "PJRT_DEVICE": "CPU",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v6e-1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}
PRODUCT = """module @product {
  func.func public @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %b : tensor<256x256xf32>
  }
}"""


def jax(target: str, function: Callable[[Any], Any] = lambda a: a @ a) -> dict[str, Any]:
    """Has JAX lower a function and the device's compiler compile it."""
    import jax
    import optax
    from jax.experimental.topologies import get_topology_desc
    from jax.sharding import SingleDeviceSharding

    if target == "tpu":
        topology = get_topology_desc(platform="tpu", topology_name="v6e:1x1", chips_per_host_bounds=(1, 1, 1))
    else:
        config = find("h100").target_config
        topology = get_topology_desc(platform="cuda", topology_name="", topology="1x1x1", target_config=config)
    device = topology.devices[0]
    argument = jax.ShapeDtypeStruct((256, 256), "float32", sharding=SingleDeviceSharding(device))
    compiled = jax.jit(function).lower(argument).compile()
    size = compiled.memory_analysis().argument_size_in_bytes
    return {"jax": jax.__version__, "optax": optax.__version__, "device": device.device_kind, "argument_bytes": size}


def torchax(target: str) -> dict[str, Any]:
    """Has torchax trace a function of PyTorch, JAX lower it, and the device's compiler compile it."""
    import torch
    import torchax

    return {"torch": torch.__version__, "torchax": torchax.__version__} | jax(
        target, torchax.interop.jax_view(lambda a: torch.matmul(a, a))
    )


def torch_xla(target: str) -> dict[str, Any]:
    """Has PyTorch/XLA lower a function on the CPU and libtpu compile it, through libtpu's own interface: PyTorch/XLA
    compiles for a TPU only where there is one."""
    import torch
    import torch_xla
    from torch_xla.core import xla_model

    a = torch.ones(256, 256, device=torch_xla.device())
    code = libtpu_compiler.compile(xla_model.get_stablehlo([a @ a]).encode())
    return {"torch": torch.__version__, "torch_xla": torch_xla.__version__, "code_bytes": code}


def torch_tpu(target: str) -> dict[str, Any]:
    """Has TorchTPU lower a function of placeholders, and libtpu compile it. Each step is a function of TorchTPU's own
    way from torch.compile to XLA (torch_tpu/_internal/export/export.py); its last ones need a TPU."""
    from importlib.metadata import version

    import torch
    from torch_tpu import _loader

    _loader._init_device("tpu")  # on a TPU `import torch` does it
    from torch_tpu._internal.compile import tpu_torch_compile
    from torch_tpu._internal.execution_mode import EagerMode, set_eager_mode

    with set_eager_mode(EagerMode._INTERNAL_COMPILE_FX_GRAPH):
        a = tpu_torch_compile.placeholder([256, 256], torch.float32)
        module = tpu_torch_compile.build_mlir([a @ a], [a])
    code = libtpu_compiler.compile(tpu_torch_compile.serialize_mlir_text(module).encode())
    packages = {"torch": torch.__version__, "torch_tpu": version("torch_tpu")}
    return packages | {"placeholder": str(a.device), "code_bytes": code}


def torch(target: str) -> dict[str, Any]:
    """Loads PyTorch with cuDNN. Has Triton, which compiles what Inductor generates, compile a kernel to an H100's code:
    Inductor itself, and cuBLAS, work only where there is a GPU."""
    import torch
    import triton
    from triton import language
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    @triton.jit
    def doubled(x, y, block: language.constexpr):  # type: ignore[no-untyped-def]
        i = language.program_id(0) * block + language.arange(0, block)
        language.store(y + i, 2 * language.load(x + i))

    signature = {"x": "*fp32", "y": "*fp32", "block": "constexpr"}
    source = ASTSource(fn=doubled, signature=signature, constexprs={"block": 128})
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "h100": "sm_90" in torch.cuda.get_arch_list(),
        "code_bytes": len(kernel.asm["cubin"]),
    }


def tensorflow(target: str) -> dict[str, Any]:
    """For a TPU: imports TensorFlow, which looks for devices only later, and has libtpu compile a program that no
    framework made. For a GPU: has TensorFlow lower a function for it; its compiler for GPUs works only where one is."""
    import tensorflow as tf

    if target == "tpu":
        return {"tensorflow": tf.__version__, "code_bytes": libtpu_compiler.compile(PRODUCT.encode())}
    function = tf.function(lambda a: a @ a, jit_compile=True)
    text = function.experimental_get_compiler_ir(tf.ones((256, 256)))(stage="hlo", platform_name="GPU")
    return {"tensorflow": tf.__version__, "built_with_cuda": tf.test.is_built_with_cuda(), "program": " dot(" in text}


if __name__ == "__main__":
    environment, target = sys.argv[1:]
    print(json.dumps(globals()[environment](target)))
