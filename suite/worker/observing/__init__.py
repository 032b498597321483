"""Processes that are never timed: they keep programs, profiles and memory, and record what a probe observes."""
