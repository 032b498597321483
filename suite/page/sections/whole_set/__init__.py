"""The sections on a set as a whole: what failed, how it was measured, where, and how to measure it again."""
