"""The equivalence gate: checks that a stack computes what the reference does, in its first steps and in its last."""
