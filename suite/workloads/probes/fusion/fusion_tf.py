"""fusion in TensorFlow. A kernel is an operation of the graph that Grappler has optimized, or of XLA's program."""

import tensorflow as tf
from tensorflow.python.eager import context  # tf.summary.trace_on collects graphs by it, for a file

NO_KERNEL = {"Placeholder", "Const", "Identity", "NoOp", "_Arg", "_Retval"}


def selu(x):
    return 1.05 * tf.where(x > 0, x, 1.67 * tf.math.expm1(x))


def run(stack, recorder):
    spec = recorder.spec

    def of_eager(function, x):
        traced = tf.function(function).get_concrete_function(x).graph  # nothing has optimized it yet
        return sum(operation.type not in NO_KERNEL for operation in traced.get_operations())

    def of_graph(function, x):
        context.enable_graph_collection()
        stack.jit(function)(x)
        graphs = context.export_run_metadata().function_graphs
        context.disable_graph_collection()
        return sum(node.op not in NO_KERNEL for graph in graphs for node in graph.post_optimization_graph.node)

    def of_xla(function, x):
        return spec.launched(stack.jit(function).experimental_get_compiler_ir(x)(stage="optimized_hlo"))

    kernels = {"tf_eager": of_eager, "tf_graph": of_graph, "tf_xla": of_xla}
    spec.observe(recorder, selu, kernels[stack.case.stack])
