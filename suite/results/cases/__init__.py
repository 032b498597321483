"""What a case's calls show: the three figures of the study, totals over steps, and the proof of what it computes."""
