"""Times a step: the one timing loop, its samples, and the turns that processes of one question take."""
