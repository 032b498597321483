"""How a run begins: from options and a preset, from a result set begun here, or from another machine's plan."""
