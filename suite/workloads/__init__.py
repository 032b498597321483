"""What is computed: one folder a workload, a spec and one file a dialect."""
