"""What is asked: presets, and from a selection to cases, each with the reason why it can't run, in blocks."""
