"""The common code of all stacks that compile with XLA."""
