"""What the core doesn't need: each folder here can be deleted with its tests, and all else works.

Its file `extra.toml` names what it adds to the core (suite/cli/extras.py).
"""
