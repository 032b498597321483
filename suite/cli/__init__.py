"""The commands that `tasks.py` names: their options, and what they print."""
