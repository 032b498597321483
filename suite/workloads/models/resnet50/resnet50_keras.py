"""resnet50 in Keras. Legend: B = batch, R = rows, C = columns, D = channels, K = classes."""

import keras
from keras import layers, ops

from suite.workloads.layers.layers_keras import cross_entropy

EPSILON = 1e-5
KEPT = 0.9  # the share of the running statistics that a step keeps


class BatchNorm(layers.BatchNormalization):
    """Moves the running variance towards the unbiased variance of the batch; Keras's own towards the biased one."""

    def call(self, x_BRCD, training=None):
        kept_D = KEPT * self.moving_variance
        y_BRCD = super().call(x_BRCD, training=training)
        if training:
            count = ops.size(x_BRCD) // x_BRCD.shape[-1]
            unbiased = ops.cast(count / (count - 1), "float32")
            self.moving_variance.assign(kept_D + (self.moving_variance - kept_D) * unbiased)
        return y_BRCD


def conv_norm(x_BRCD, outputs, size, name, stride=1):
    # At stride 2, "same" would pad the two sides of even maps unequally.
    if stride > 1 and size > 1:
        x_BRCD = layers.ZeroPadding2D(size // 2)(x_BRCD)
    padding = "valid" if stride > 1 else "same"
    convolution = layers.Conv2D(outputs, size, stride, padding, use_bias=False, name=f"{name}_conv")
    return BatchNorm(momentum=KEPT, epsilon=EPSILON, name=f"{name}_norm")(convolution(x_BRCD))


def bottleneck(x_BRCD, narrow, stride, shortcut, name):
    y_BRCD = layers.ReLU()(conv_norm(x_BRCD, narrow, 1, f"{name}_reduce"))
    y_BRCD = layers.ReLU()(conv_norm(y_BRCD, narrow, 3, f"{name}_spatial", stride))
    y_BRCD = conv_norm(y_BRCD, 4 * narrow, 1, f"{name}_expand")
    if shortcut:  # the first of a stage: the shape changes
        x_BRCD = conv_norm(x_BRCD, 4 * narrow, 1, f"{name}_shortcut", stride)
    return layers.ReLU()(layers.Add()([y_BRCD, x_BRCD]))


def model(image, classes, width, blocks1, blocks2, blocks3, blocks4):
    image_BRC3 = keras.Input([image, image, 3])
    x_BRCD = layers.ReLU()(conv_norm(image_BRC3, width, 7, "stem", stride=2))
    # Zeros pad as well as -inf: after a ReLU nothing is less than 0.
    x_BRCD = layers.MaxPooling2D(3, strides=2)(layers.ZeroPadding2D(1)(x_BRCD))
    for number, blocks in enumerate((blocks1, blocks2, blocks3, blocks4), 1):
        for n in range(blocks):
            stride = 2 if number > 1 and n == 0 else 1
            x_BRCD = bottleneck(x_BRCD, width * 2 ** (number - 1), stride, n == 0, f"stage{number}_{n}")
    features_BD = layers.GlobalAveragePooling2D()(x_BRCD)
    return keras.Model(image_BRC3, layers.Dense(classes, name="classifier")(features_BD))


loss = cross_entropy
