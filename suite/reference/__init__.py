"""Says what a step must compute: float64 references, golden files made by other implementations, optimizers, and
tolerances.

`make` and `flops` are programs that need a framework. They are started in that framework's environment, and no other
module imports them.
"""
