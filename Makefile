# Thin: every target is an invoke task of the same name, but `quick` and `help`. The first one makes the
# orchestrator's environment, which takes Python 3.11, 3.12 or 3.13 and a package index.
#
## make run        measure and report: environments, the quick preset, a result set with its page
## make setup      every environment from its lock            ARGS="--target=cuda"
## make doctor     what is missing on this machine, with the remedy
## make list       workloads, stacks, sizes and presets; what runs here, and why not
## make report     the page of a result set again             ARGS="--set=results/latest"
## make test       checks and all tests: what CI runs         ARGS="-k gate -x", options of pytest
## make quick      checks and the tests that take no framework and less than a minute
## make check      lint, types, import contracts
## make build      container images, one an environment       ARGS="--environment=jax"
## make images     the images that are built
## make base-image a base for them where no registry can be reached
## make clean      remove environments of older locks, and tools' caches; results are kept
## ARGS are options of the task: make run ARGS="--preset=ops --stack=jax_*"; ./stackwars TASK --help lists them.

# The first that runs and fits: a version manager's python3.13 may stand for nothing. Any other Python 3 looks for one
# that fits where version managers put them.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	$$python -c '$(FITS)' 2>/dev/null && echo $$python && exit; done; echo python3)

.PHONY: run setup doctor list report test quick check build images base-image clean help orchestrator
.DEFAULT_GOAL := run

run setup doctor list report check build images base-image clean: orchestrator
	@.venv/bin/invoke $@ $(ARGS)

# Quoted once more, so that ARGS="-m 'not stacks'" arrives at pytest as it was written.
test quick: orchestrator
	@.venv/bin/invoke test $(if $(filter quick,$@),--quick) $(if $(ARGS),--args='$(subst ','\'',$(ARGS))')

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

# Always asked, since only its marker says whether .venv is whole, current and of this checkout (a tenth of a second).
orchestrator:
	@$(PYTHON) -m suite.environments orchestrator
