"""TensorFlow with tf.function: the step is traced once to a graph with fixed input shapes."""

from __future__ import annotations

from suite.stacks import tf_eager_adapter as tf_eager


class Adapter(tf_eager.Adapter):
    """As eager, with forward, gradients and the whole train step as graphs."""

    jit_compile = False  # True: XLA compiles the graph; None would leave it to TensorFlow

    def __init__(self, case, workload):
        super().__init__(case, workload)
        self.functions = []

    def compile(self, function, *signature):
        compiled = self.tf.function(function, input_signature=signature, jit_compile=self.jit_compile)
        self.functions.append(compiled)
        return compiled

    def counters(self):
        traces = sum(function.experimental_get_tracing_count() for function in self.functions)
        return {"compiles": traces, "compile_seconds": None, "graph_breaks": None, "fallback_ops": None}
