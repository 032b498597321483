"""TensorFlow: on a GPU, nearly all of its memory when the first operation runs, unless told otherwise."""

import sys


def first_array(target):
    import tensorflow as tf

    return tf.ones([1024])


def run(stack, recorder):
    stack.workload.spec.ask(stack, recorder, __file__, first_array, {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, "")


if __name__ == "__main__":
    import json

    from spec import weigh

    print(json.dumps(weigh("tensorflow", first_array, sys.argv[2])))
