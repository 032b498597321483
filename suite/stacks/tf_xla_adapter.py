"""TensorFlow with XLA: tf.function(jit_compile=True), which refuses what XLA can't compile."""

from __future__ import annotations

from suite.stacks import kernels, xla, xla_buffers
from suite.stacks import tf_graph_adapter as tf_graph


class Adapter(tf_graph.Adapter):
    """As graphs, compiled by XLA."""

    jit_compile = True
    knobs = xla.KNOBS

    @classmethod
    def environ(cls, case, cache_directory):
        return super().environ(case, cache_directory) | xla.flags_environ(case)

    @classmethod
    def explain_environ(cls, case, cache_directory):
        return xla.explain_environ(super().explain_environ(case, cache_directory), cache_directory)

    def holders(self, told, state, batch):
        return xla_buffers.holders(told.folder / xla.DUMP)

    def kernels_used(self, told):
        return xla.kernels_used(told) + kernels.libraries(told)
