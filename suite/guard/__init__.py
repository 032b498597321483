"""Handles files, locks and texts that another user or program may have made or changed."""
