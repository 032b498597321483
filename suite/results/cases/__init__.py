"""What a set shows of each case: three calls, totals over steps, other baselines, the roofline, the proof."""
