"""The run: every planned attempt, block by block, becomes a row."""
