"""A result set on disk: its files, their schema, and how each is read and checked."""
