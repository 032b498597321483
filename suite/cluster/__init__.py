"""Many machines: a plan's shares, put together again."""
