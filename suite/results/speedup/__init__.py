"""From processes to ratios: which are paired, what a ratio's interval is, and the verdict."""
