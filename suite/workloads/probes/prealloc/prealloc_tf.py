"""TensorFlow: on a GPU, it takes nearly all memory at the first operation, unless a variable prevents it."""

import sys


def first_array(target):
    import tensorflow as tf

    return tf.ones([1024])


def run(stack, recorder):
    stack.workload.spec.observe(stack, recorder, __file__, first_array, {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, "")


if __name__ == "__main__":
    import json

    from spec import memory_taken

    print(json.dumps(memory_taken("tensorflow", first_array, sys.argv[2])))
