"""Searches for the largest size that fits: what is known of it, by the sizes that were tried and by a curve."""
