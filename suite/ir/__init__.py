"""Reads the programs that stacks hand to their compilers, recognises parts such as attention in them, and compares the
programs of two stacks. It also attributes a profiled step's time to categories."""
