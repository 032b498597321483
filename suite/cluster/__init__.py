"""Runs on several machines: shares of a plan, who measures them, and one set of all shares."""
