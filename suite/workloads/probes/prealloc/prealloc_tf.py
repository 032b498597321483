"""TensorFlow: on a GPU, it takes nearly all memory at the first operation, unless a variable prevents it."""


def first_array(target):
    import tensorflow as tf

    return tf.ones([1024])


def run(stack, recorder):
    recorder.spec.observe(recorder, "tensorflow", first_array, {"TF_FORCE_GPU_ALLOW_GROWTH": "true"})
