"""The map of a page: questions down, stacks across, one verdict a cell."""
