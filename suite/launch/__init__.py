"""Runs each attempt in a process of its own: starts it, enforces its limits, and puts its outcome into words.

Nothing is imported here: the supervisor lives in this package too, and has to be up within milliseconds.
"""
