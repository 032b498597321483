"""What the Keras stacks of all backends have in common."""
