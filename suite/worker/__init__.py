"""The worker: the measured process, which imports the framework. It reads one case and writes events."""
