"""TensorFlow with tf.function: the step is traced once to a graph with fixed input shapes."""

from __future__ import annotations

from suite.stacks.holders import Holder
from suite.stacks.tensorflow import tf_eager_adapter as tf_eager
from suite.stacks.tensorflow import tf_memory


class Adapter(tf_eager.Adapter):
    """Like `tf_eager`, with forward, gradients and the whole train step as graphs."""

    untraceable = ("OperatorNotAllowedInGraphError",)
    jit_compile = False  # True: XLA compiles the graph; None would leave it to TensorFlow

    def __init__(self, case, workload):
        super().__init__(case, workload)
        self.functions = []

    def compile(self, function, *signature):
        compiled = self.tf.function(function, input_signature=signature, jit_compile=self.jit_compile)
        self.functions.append(compiled)
        return compiled

    def is_unstable(self):
        # TensorFlow fuses a product with the residual sum that it is added to. Of one row, oneDNN adds the product's
        # terms onto that sum one by one: with sums of 480, 13 to 26 times the error of eager TensorFlow.
        return self.token is not None and self.dims["batch"] == 1

    def counters(self):
        traces = sum(function.experimental_get_tracing_count() for function in self.functions)
        return super().counters() | {"traces": traces, "compiles": traces}

    def jit(self, function, static=()):
        compiled = self.tf.function(function, jit_compile=self.jit_compile)
        self.functions.append(compiled)
        return compiled

    @classmethod
    def explain_environ(cls, case, cache_directory):
        return super().explain_environ(case, cache_directory) | tf_memory.ENVIRON

    def holders(self, logs, state, batch):
        moments = {
            f"{name} {k}": moment
            for name, of_parameter in (self.updater.moments.items() if self.updater else ())
            for k, moment in enumerate(of_parameter, 1)
        }
        kinds = {"parameters": self.variables | self.kept, "optimizer": moments, "inputs": batch}
        known = [
            Holder(kind, name, tensor.shape.num_elements() * tensor.dtype.size)
            for kind, tensors in kinds.items()
            for name, tensor in tensors.items()
        ]
        # Their keys are negative: no event of the step has such a key, so none releases them.
        before = {-key: holder for key, holder in enumerate(known, 1)}
        return tf_memory.holders(lambda: self.wait(*self.step(state, batch)), before, logs.folder)
