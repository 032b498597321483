"""fusion in TensorFlow. Kernels: operations of the graph, once Grappler has optimized it, or of XLA's program."""

import tensorflow as tf
from tensorflow.python.eager import context  # what tf.summary.trace_on keeps graphs by; they go to no file here

ALPHA = 1.67
LAMBDA = 1.05
NO_KERNEL = {"Placeholder", "Const", "Identity", "NoOp", "_Arg", "_Retval"}


def selu(x):
    return LAMBDA * tf.where(x > 0, x, ALPHA * tf.math.expm1(x))


def chain(x):
    for _ in range(10):
        x = x * 0.5 + 1.0
    return x


def run(stack, recorder):
    spec = stack.workload.spec

    def of_eager(function, x):
        traced = tf.function(function).get_concrete_function(x).graph  # as written: nothing has optimized it yet
        return sum(operation.type not in NO_KERNEL for operation in traced.get_operations())

    def of_graph(function, x):
        context.enable_graph_collection()
        stack.jit(function)(x)
        graphs = context.export_run_metadata().function_graphs
        context.disable_graph_collection()
        return sum(node.op not in NO_KERNEL for each in graphs for node in each.post_optimization_graph.node)

    def of_xla(function, x):
        return spec.launched(stack.jit(function).experimental_get_compiler_ir(x)(stage="optimized_hlo"))

    kernels = {"tf_eager": of_eager, "tf_graph": of_graph, "tf_xla": of_xla}
    spec.observe(stack, recorder, {"selu": selu, "chain": chain}, kernels[stack.case.stack])
