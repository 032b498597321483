"""resnet50 in TensorFlow. Legend: B = batch, R = rows, C = columns, D = channels, K = classes."""

import tensorflow as tf

EPSILON = 1e-5
MOMENTUM = 0.1


def both_sides(pad):
    """Padding of rows and columns. At stride 2, "SAME" would pad the two sides of even maps unequally."""
    return [[0, 0], [pad, pad], [pad, pad], [0, 0]]


class BatchNorm(tf.Module):
    def __init__(self, channels, name):
        super().__init__()
        self.weight = tf.Variable(tf.ones([channels]), name=f"{name}.weight")
        self.bias = tf.Variable(tf.zeros([channels]), name=f"{name}.bias")
        self.running_mean = tf.Variable(tf.zeros([channels]), trainable=False, name=f"{name}.running_mean")
        self.running_var = tf.Variable(tf.ones([channels]), trainable=False, name=f"{name}.running_var")

    def __call__(self, x_BRCD, training):
        # The raw operation, because tf.compat.v1.nn.fused_batch_norm raises an epsilon of 1e-5 to 1.001e-5. In training
        # it normalizes by the batch's biased variance, and returns the running variance moved towards the unbiased one.
        y_BRCD, mean_D, var_D, *_ = tf.raw_ops.FusedBatchNormV3(
            x=x_BRCD,
            scale=self.weight,
            offset=self.bias,
            mean=self.running_mean,
            variance=self.running_var,
            epsilon=EPSILON,
            exponential_avg_factor=MOMENTUM,
            is_training=training,
        )
        if training:
            self.running_mean.assign(mean_D)
            self.running_var.assign(var_D)
        return y_BRCD


class ConvNorm(tf.Module):
    def __init__(self, inputs, outputs, size, name, stride=1):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([size, size, inputs, outputs]), name=f"{name}.conv.weight")
        self.norm = BatchNorm(outputs, name=f"{name}.norm")
        self.stride = stride
        # For odd sizes at stride 1, and for 1 x 1, the names pad as numbers would, and more kernels take names.
        self.padding = "VALID" if size == 1 else "SAME" if stride == 1 else both_sides(size // 2)

    def __call__(self, x_BRCD, training):
        return self.norm(tf.nn.conv2d(x_BRCD, self.weight, self.stride, self.padding), training)


class Bottleneck(tf.Module):
    def __init__(self, inputs, narrow, stride, shortcut, name):
        super().__init__()
        wide = 4 * narrow
        self.reduce = ConvNorm(inputs, narrow, 1, name=f"{name}.reduce")
        self.spatial = ConvNorm(narrow, narrow, 3, name=f"{name}.spatial", stride=stride)
        self.expand = ConvNorm(narrow, wide, 1, name=f"{name}.expand")
        # The first of a stage changes the shape, so its input can't be added as it is.
        self.shortcut = ConvNorm(inputs, wide, 1, name=f"{name}.shortcut", stride=stride) if shortcut else None

    def __call__(self, x_BRCD, training):
        y_BRCD = tf.nn.relu(self.reduce(x_BRCD, training))
        y_BRCD = tf.nn.relu(self.spatial(y_BRCD, training))
        y_BRCD = self.expand(y_BRCD, training)
        if self.shortcut:
            x_BRCD = self.shortcut(x_BRCD, training)
        return tf.nn.relu(y_BRCD + x_BRCD)


class Model(tf.Module):
    def __init__(self, batch, image, classes, width, blocks1, blocks2, blocks3, blocks4):
        super().__init__()
        self.stem = ConvNorm(3, width, 7, name="stem", stride=2)
        self.blocks = []
        inputs = width
        for number, blocks in enumerate((blocks1, blocks2, blocks3, blocks4), 1):
            narrow = width * 2 ** (number - 1)
            for n in range(blocks):
                stride = 2 if number > 1 and n == 0 else 1
                self.blocks.append(Bottleneck(inputs, narrow, stride, n == 0, name=f"stage{number}.{n}"))
                inputs = 4 * narrow
        self.weight = tf.Variable(tf.zeros([inputs, classes]), name="classifier.weight")
        self.bias = tf.Variable(tf.zeros([classes]), name="classifier.bias")

    def __call__(self, image, training=False):
        x_BRCD = tf.nn.relu(self.stem(image, training))
        # XLA's pooling takes no explicit padding. Zeros do as well as -inf: after a ReLU nothing is less than 0.
        x_BRCD = tf.nn.max_pool2d(tf.pad(x_BRCD, both_sides(1)), 3, strides=2, padding="VALID")
        for block in self.blocks:
            x_BRCD = block(x_BRCD, training)
        features_BD = tf.reduce_mean(x_BRCD, axis=[1, 2])
        return tf.nn.bias_add(tf.matmul(features_BD, self.weight), self.bias)


def loss(model, image, target):
    logits_BK = model(image, training=True)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits_BK))
