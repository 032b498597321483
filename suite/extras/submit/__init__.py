"""What an archive of strangers' sets asks of a set, and of the change that adds it."""
