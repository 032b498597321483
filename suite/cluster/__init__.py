"""Many machines: a plan's shares, who measures them where, and one set of them again."""
