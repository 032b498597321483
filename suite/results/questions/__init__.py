"""What a set shows besides times, read from its rows: behaviour, programs, parts of a peak."""
