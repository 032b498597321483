"""For notebooks: `import stackwars; frame = stackwars.ask("layernorm.py", stack=["torch_*", "jax_jit"])`."""

from suite.cli.measure.notebook import ask

__all__ = ["ask"]
