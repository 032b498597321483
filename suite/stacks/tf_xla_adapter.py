"""TensorFlow with XLA: tf.function(jit_compile=True), which refuses what XLA can't compile."""

from __future__ import annotations

from suite.stacks import tf_graph_adapter as tf_graph


class Adapter(tf_graph.Adapter):
    """As graphs, compiled by XLA."""

    jit_compile = True
