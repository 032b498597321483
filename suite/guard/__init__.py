"""Handles files, locks and texts that somebody else may have touched."""
