"""What a step must give, and who says so: float64 references, golden files of other implementations, optimizers.

`make` and `flops` are programs for an environment that has a framework: started, never imported.
"""
