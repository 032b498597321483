"""Computes the total time of a number of steps on each stack of a question."""
