"""From processes to verdicts: pairs of processes, ratios with their intervals, verdicts."""
