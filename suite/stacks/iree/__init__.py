"""The stack that compiles JAX's StableHLO with IREE."""
