"""Plans a run: a preset and options become cases, each with a reason if it can't run, and cases become processes."""
