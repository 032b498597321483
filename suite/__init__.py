"""Stack Wars: the same computation on every machine-learning stack, under one honest clock."""
