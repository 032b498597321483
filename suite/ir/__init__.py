"""What a stack hands to its compiler: programs read, their regions recognised, one held against another."""
