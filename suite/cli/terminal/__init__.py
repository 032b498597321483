"""What reaches a terminal, a pipe or a file: tables, progress, JSON."""
