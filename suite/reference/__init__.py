"""What a step must give: float64 references, golden files made by other implementations, optimizers, tolerances.

`make` and `flops` are programs that need a framework: they are started in its environment and never imported.
"""
