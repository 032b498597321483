"""What is computed: a folder for each workload, with a spec and a file for each dialect."""
