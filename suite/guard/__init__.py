"""What somebody else may have touched, handled with care: files, locks, and texts."""
