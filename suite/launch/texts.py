"""What frameworks, compilers and the system say as they fail, by which `suite.launch.outcome` tells outcomes apart."""

from __future__ import annotations

from typing import NamedTuple

# Texts of compilers that ran out of memory, in whatever phase.
COMPILE_OOM = (
    r"Ran out of memory in memory space \w+",  # XLA for TPUs: the program doesn't fit (hbm, vmem)
    r"Killed signal terminated program cc1plus",  # g++, which PyTorch's Inductor calls
    r"cc1plus: out of memory",  # the same, refused by the system rather than killed
    r"virtual memory exhausted",  # gcc of older versions
    r"LLVM ERROR: out of memory",  # LLVM inside XLA and Triton
    r"ptxas fatal.*[Mm]emory allocation",  # NVIDIA's assembler, for XLA and Triton
)
# Exceptions that wrap any failure while compiling, out-of-memory included.
COMPILE_FAILURE = (
    r"\bInductorError\b",  # PyTorch's Inductor
    r"\bBackendCompilerFailed\b",  # PyTorch's Dynamo
)
# On a CPU device the same texts mean host memory.
DEVICE_OOM = (
    r"\bOutOfMemoryError\b",  # PyTorch: torch.OutOfMemoryError
    r"CUDA out of memory",  # PyTorch's text of it
    r"\bOut of memory (while trying to allocate|allocating) \S",  # XLA's own words, if the status around them is lost
    r"RESOURCE_EXHAUSTED",  # XLA's status, in JAX (ValueError or JaxRuntimeError), PyTorch/XLA, TensorFlow
    r"\bResourceExhaustedError\b",  # TensorFlow's type for that status
    r"OOM when allocating",  # TensorFlow's allocator
    r"CUBLAS_STATUS_ALLOC_FAILED",  # cuBLAS under any framework
    r"CUDNN_STATUS_ALLOC_FAILED",  # cuDNN under any framework
    r"CUDA_ERROR_OUT_OF_MEMORY",  # CUDA's driver
    r"(CUDA|CUDA driver|Triton) [Ee]rror( \[CUDA\])?: out of memory",  # PyTorch: torch.AcceleratorError, and Triton
    r"Dst tensor is not initialized",  # TensorFlow, where a host's array is placed (tensorflow#7025)
)
HOST_OOM = (
    r"\b_?(Array)?MemoryError\b",  # Python; NumPy's subclass
    r"DefaultCPUAllocator: (can't allocate|not enough) memory",  # PyTorch
    r"\bbad_alloc\b",  # the C++ of every framework
    r"Cannot allocate memory",  # the system: ENOMEM
    r"failed to map segment from shared object",  # the loader, under a limit on address space
)
ABSENT_DEVICE = (
    r"No CUDA GPUs are available",  # PyTorch
    r"Found no NVIDIA driver on your system",  # PyTorch
    r"Torch not compiled with CUDA enabled",  # PyTorch of the CPU build
    r"no CUDA-capable device is detected",  # CUDA's runtime, under any framework
    r"Unknown backend:? '?(cuda|gpu|tpu)",  # JAX
    r"Unable to initialize backend '(cuda|tpu)'",  # JAX
)


class Lacking(NamedTuple):
    """A text by which a framework says that it hasn't what a step needs: a pattern, whose group is quoted if it has
    one. `seen` are the versions that said so."""

    pattern: str
    framework: str
    seen: tuple[str, ...]


# Each is tried on the framework itself (tests/launch/test_texts.py). What isn't here is an `error`.
LACKING = (
    Lacking(
        r"Detected unsupported operations when trying to compile graph .*? on (.*)", "TensorFlow's XLA", ("2.21.0",)
    ),
    Lacking(r"gradient registry has no entry for: \w+", "TensorFlow", ("2.21.0",)),
    Lacking(r"Value for attr '\w+' of \w+ is not in the list of allowed values: .*", "TensorFlow", ("2.21.0",)),
    Lacking(r"Operator with name \S+ has no lowering", "torchax", ("0.0.13",)),
    Lacking(r"No ONNX function found for <[^>]+>", "torch.onnx", ("2.15.0", "2.13.0")),
    Lacking(r"NOT_IMPLEMENTED : Could not find an implementation for .*", "ONNX Runtime", ("1.32.0",)),
    Lacking(r"Type 'tensor\(\w+\)' of input parameter \(.*?\) of operator \(\w+\)", "ONNX Runtime", ("1.32.0",)),
    Lacking(r"No conversion rule found for operations: .*", "OpenVINO", ("2026.4.1",)),
    Lacking(r'failed to legalize operation .*call_target_name = "(\w+)"', "IREE", ("3.13.0",)),
    Lacking(r"failed to legalize operation '(\w+\.(?!custom_call)\w+)'", "IREE", ("3.13.0",)),
    Lacking(r'"\w+" not implemented for \'\w+\'', "PyTorch", ("2.15.0", "2.13.0")),
    Lacking(r"the derivative for '.*' is not implemented", "PyTorch", ("2.15.0", "2.13.0")),
    Lacking(r"Trying to use forward AD with \w+ that does not support it", "PyTorch", ("2.15.0", "2.13.0")),
    Lacking(r"Could not run '\S+' with arguments from the '\w+' backend", "PyTorch/XLA", ("2.9.0",)),
    Lacking(r"\w+ does not accept dtype \w+ at position \d+", "JAX", ("0.12.0.1", "0.10.2")),
    Lacking(r"Unsupported dtype \w+", "JAX", ("0.10.2",)),  # LAPACK's types; newer versions say the line above
    Lacking(r"Differentiation rule for '\w+' not implemented", "JAX", ("0.12.0.1", "0.10.2")),
    Lacking(r"Use of unsupported NumPy function '[\w.]+'", "Numba", ("0.68.1",)),
    Lacking(r"Unknown attribute '\w+' of type Module\(<module 'numpy[\w.]*'", "Numba", ("0.68.1",)),
    Lacking(r"\bUnsupported(Bytecode|Rewrite|Parfors|)Error: (.*)", "Numba", ("0.68.1",)),
    Lacking(r"was specified but (no transformation for parallel execution was possible)", "Numba", ("0.68.1",)),
)
