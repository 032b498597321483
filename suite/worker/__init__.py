"""The worker: the measured process, which imports the framework. It reads one case and writes events.
`timing/` takes the samples, `equivalence/` is the gate, and `observing/` is never timed."""
