"""A question that every framework must refuse, and its words for it."""

from __future__ import annotations

# A hidden layer of 400 GB, from weights of 8 MB: no allocator tries, each says so in its own words.
HUGE = ("--purpose=memory", "--workload=ffn", "--pass=forward", "--dims=batch=1,seq=100000,width=1,hidden=1000000")
WORDS = {
    "numpy": "MemoryError",
    "jax_jit": "RESOURCE_EXHAUSTED",
    "torch_eager": "DefaultCPUAllocator",
    "tf_graph": "OOM when allocating",
}
