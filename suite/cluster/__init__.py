"""Runs on several machines: jobs and queues that measure a plan's shares, and one set made of all shares."""
