"""The programs that a stack hands to its compiler: reading them, recognising their regions, comparing two of them."""
