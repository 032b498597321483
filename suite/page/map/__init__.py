"""The map of a page: questions down, stacks across, one verdict in each cell."""
