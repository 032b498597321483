"""The worker: the only process that imports a framework. It reads one case and writes events."""
