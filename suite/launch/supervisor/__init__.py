"""The process between the orchestrator and one worker: starts it, limits it, reports its end. Standard library only."""
