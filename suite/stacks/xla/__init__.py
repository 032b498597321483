"""What every stack that compiles with XLA shares."""
