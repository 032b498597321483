"""The options of every command: dataclasses with a field for each option, which has its type, default and help."""
