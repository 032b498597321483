"""TensorFlow with XLA: tf.function(jit_compile=True), which refuses what XLA can't compile."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

from suite.stacks.tensorflow import tf_graph_adapter as tf_graph
from suite.stacks.xla import compiler


class Adapter(compiler.Dumping, tf_graph.Adapter):
    """Like `tf_graph`, with the graphs compiled by XLA."""

    jit_compile = True
    knobs = compiler.KNOBS

    @classmethod
    def environ(cls, case, cache_directory):
        return super().environ(case, cache_directory) | compiler.flags_environ(case)

    @classmethod
    def ir_environ(cls, case, cache_directory):
        # The variables may be larger than the machine's memory, because they are never written.
        return super().ir_environ(case, cache_directory) | {"TF_MKL_ALLOC_MAX_BYTES": str(2**40)}

    def build(self, abstract=False):
        with untouched(self.tf) if abstract else nullcontext():
            super().build(abstract)

    def is_unstable(self):
        return bool(self.buffers)  # batch norms: the fused one is XLA's, whose variance is E[x^2] - E[x]^2

    def compile_on_shapes(self, parameters, batch):
        # Inputs are real tensors: experimental_get_compiler_ir takes no specs inside a dict. Variables aren't written.
        specs = {name: self.signature(tensor) for name, tensor in batch.items()}
        inputs = {name: self.tf.zeros(spec.shape, spec.dtype) for name, spec in specs.items()}
        step, arguments = self.call if self.train else self.forward, (inputs,)
        if self.token:
            step, arguments = self.token, inputs.values()
        step.experimental_get_compiler_ir(*arguments)(stage="optimized_hlo_serialized")
        return None, inputs


@contextmanager
def untouched(tf):
    """Makes `tf.zeros` and `tf.ones` allocate memory without writing it; Linux gives no memory to unwritten pages."""
    before = tf.zeros, tf.ones

    def empty(shape, dtype=tf.float32, name=None):
        return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)

    tf.zeros = tf.ones = empty
    try:
        yield
    finally:
        tf.zeros, tf.ones = before
