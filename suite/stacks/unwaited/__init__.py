"""Stacks that break the rule that a step is waited for. No catalogue lists them: `doctor --device` runs them, to see
that a device's clock catches them."""
