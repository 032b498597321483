"""Computes what a set shows of each case: its first, second and steady call, total time over steps, ratios over other
baselines, its place under the roofline, and the proof that its results are right."""
