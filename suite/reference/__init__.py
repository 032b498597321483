"""Says what a step must compute: float64 references, golden files made by other implementations, optimizers, and
tolerances."""
