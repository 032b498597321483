"""TensorFlow with XLA: tf.function(jit_compile=True), which refuses what XLA can't compile."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

from suite.stacks import kernels
from suite.stacks.tensorflow import tf_graph_adapter as tf_graph
from suite.stacks.xla import buffers, compiler


class Adapter(compiler.Dumping, tf_graph.Adapter):
    """As graphs, compiled by XLA."""

    jit_compile = True
    knobs = compiler.KNOBS

    @classmethod
    def environ(cls, case, cache_directory):
        return super().environ(case, cache_directory) | compiler.flags_environ(case)

    @classmethod
    def ir_environ(cls, case, cache_directory):
        # Variables that nobody touches may be more than the machine has.
        return super().ir_environ(case, cache_directory) | {"TF_MKL_ALLOC_MAX_BYTES": str(2**40)}

    def build(self, abstract=False):
        with untouched(self.tf) if abstract else nullcontext():
            super().build(abstract)

    def compile_on_shapes(self, parameters, batch):
        # Inputs are there, since a function's compiler takes no specs inside of others; so are variables, untouched.
        specs = {name: self.signature(tensor) for name, tensor in batch.items()}
        inputs = {name: self.tf.zeros(spec.shape, spec.dtype) for name, spec in specs.items()}
        step = self.call if self.train else self.forward
        step.experimental_get_compiler_ir(inputs)(stage="optimized_hlo_serialized")
        return None, inputs

    def holders(self, told, state, batch):
        return buffers.holders(told.folder / compiler.DUMP)

    def kernels_used(self, told):
        return compiler.kernels_used(told) + kernels.libraries(told)


@contextmanager
def untouched(tf):
    """What a model begins with is allocated and left as it is: the system gives memory when it is written."""
    before = tf.zeros, tf.ones

    def empty(shape, dtype=tf.float32, name=None):
        return tf.raw_ops.Empty(shape=shape, dtype=dtype, init=False)

    tf.zeros = tf.ones = empty
    try:
        yield
    finally:
        tf.zeros, tf.ones = before
