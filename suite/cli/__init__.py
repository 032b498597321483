"""The commands of `tasks.py`: their options, what they do, and what they print."""
