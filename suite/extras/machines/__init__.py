"""Runs a plan on several machines: jobs and a queue measure shares of the plan, and `collect` makes one result set of
all shares."""
