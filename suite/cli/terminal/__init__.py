"""Output of the commands to a terminal, a pipe or a file: tables, progress, JSON."""
