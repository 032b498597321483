"""What is computed: `ops/`, `models/` and `probes/` have a folder for each workload, with a spec and a file for each
dialect; `layers/` what several models compute alike; `questions/` makes a workload of a question file."""
