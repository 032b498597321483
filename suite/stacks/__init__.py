"""How a dialect's code is executed: a catalogue of stacks and one adapter for each."""
