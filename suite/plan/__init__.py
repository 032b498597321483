"""What a run asks: a preset and options become cases, each with a reason if it can't run, and their processes."""
