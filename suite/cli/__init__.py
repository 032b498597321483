"""Options in, words out: the commands that `tasks.py` names, and what a person sees while they run."""
