"""The optimizers of the TensorFlow stacks, made of TensorFlow's own kernels. The framework comes in as an argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from suite import protocol


class Optimizer:
    """The common part of both optimizers: their moments, which are tf.Variables in the shapes of the weights."""

    def __init__(self, tf: Any, variables: Mapping[str, Any], moments: int) -> None:
        self.tf = tf
        self.variables = variables
        self.moments = {
            name: tuple(tf.Variable(tf.zeros(v.shape)) for _ in range(moments)) for name, v in variables.items()
        }

    def reset(self) -> None:
        self.write_zeros(lambda moment: moment.shape)

    def release(self) -> None:
        """Frees the moments' memory until `reset`. The variables themselves stay: the step was traced with them."""
        self.write_zeros(lambda moment: [0])

    def write_zeros(self, shape: Callable[[Any], Any]) -> None:
        for moments in self.moments.values():
            for moment in moments:
                renew(self.tf, moment, self.tf.zeros(shape(moment)))


class AdamW(Optimizer):
    """AdamW by TensorFlow's fused Adam kernel on tf.Variables.

    The kernel, like Keras's optimizers, adds epsilon before the bias correction, which is another algorithm. Given
    epsilon times the root of the correction of v, it computes exactly the formula of `apply`.
    """

    def __init__(self, tf: Any, variables: Mapping[str, Any]) -> None:
        super().__init__(tf, variables, moments=2)
        self.count = tf.Variable(0.0, trainable=False)

    def reset(self) -> None:
        super().reset()
        self.count.assign(0.0)

    def apply(self, gradients: Mapping[str, Any]) -> None:
        """Updates all parameters: p (1 - lr wd) - lr/c1 m / (sqrt(v)/sqrt(c2) + eps), c the bias corrections 1 -
        beta^count."""
        tf = self.tf
        self.count.assign_add(1.0)
        power1, power2 = tf.pow(protocol.BETA1, self.count), tf.pow(protocol.BETA2, self.count)
        epsilon = protocol.EPSILON * tf.sqrt(1.0 - power2)
        for name, p in self.variables.items():
            m, v = self.moments[name]
            p.assign(p * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY))
            tf.raw_ops.ResourceApplyAdam(
                var=p.handle,
                m=m.handle,
                v=v.handle,
                beta1_power=power1,
                beta2_power=power2,
                lr=protocol.LEARNING_RATE,
                beta1=protocol.BETA1,
                beta2=protocol.BETA2,
                epsilon=epsilon,
                grad=gradients[name],
            )


class Momentum(Optimizer):
    """SGD with momentum by TensorFlow's own kernel: a = momentum a + g; p -= lr a."""

    def __init__(self, tf: Any, variables: Mapping[str, Any]) -> None:
        super().__init__(tf, variables, moments=1)

    def apply(self, gradients: Mapping[str, Any]) -> None:
        for name, p in self.variables.items():
            (a,) = self.moments[name]
            self.tf.raw_ops.ResourceApplyMomentum(
                var=p.handle,
                accum=a.handle,
                lr=protocol.LEARNING_RATE,
                grad=gradients[name],
                momentum=protocol.MOMENTUM,
            )


def renew(tf: Any, variable: Any, value: Any) -> None:
    """Gives a variable a new value of any shape; `assign` takes only the variable's own shape."""
    tf.raw_ops.AssignVariableOp(resource=variable.handle, value=value, validate_shape=False)


OPTIMIZERS: dict[str, type[AdamW] | type[Momentum]] = {"adamw": AdamW, "sgd": Momentum}
