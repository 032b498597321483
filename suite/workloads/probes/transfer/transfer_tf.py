"""transfer in TensorFlow. `np.asarray` of a tensor would be a read-only view."""

import tensorflow as tf


def to_device(host):
    return tf.constant(host)


def to_host(x):
    return x.numpy()


def run(stack, recorder):
    spec = stack.workload.spec
    spec.observe(stack, recorder, to_device, to_host)
    on_cpu = stack.case.target == "cpu"
    recorder.lacks("pinned", spec.NOTHING_TO_PIN if on_cpu else "TensorFlow has no call that pins a host array")
