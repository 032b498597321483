# Targets for users run the command of ./stackwars of their name; those for developers a task of tasks.py. The first
# target to be made also makes the orchestrator's environment, which needs Python 3.11, 3.12 or 3.13 and a package index.
#
## make run        measure and report: environments, the quick preset, a result set with its page
## make setup      every environment from its lock            ARGS="--target=cuda"
## make doctor     what is missing on this machine, with the remedy
## make list       workloads, stacks, sizes and presets; what runs here, and why the rest doesn't
## make report     the page of a result set again             ARGS="--set=results/latest"
## make test       checks and tests, every stack included     ARGS="-k gate -x", options of pytest
## make test-all   also the tests that only a release needs
## make quick      checks and the tests that take no framework, about two minutes
## make docs       the documentation's site, into docs-site/
## make check      lint, types, import contracts
## make build      container images, one an environment       ARGS="--environment=jax"
## make images     the images that are built
## make base-image base images for these, where no registry can be reached
## make clean      remove environments of older locks, and tools' caches; results are kept
## ARGS are options of the command: make run ARGS="--preset=ops --stack=jax_*"; ./stackwars run --help lists them.

# The first command that starts a fitting Python: a version manager's `python3.13` may be a stub that starts none. If no
# command does, `python3` is taken, and suite.environments searches the version managers' folders for a fitting Python.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	$$python -I -c '$(FITS)' 2>/dev/null && echo $$python && exit; done; echo python3)

.PHONY: run setup doctor list report test test-all quick check docs build images base-image clean help orchestrator
.DEFAULT_GOAL := run

run setup doctor list report build images: orchestrator
	@.venv/bin/stackwars $@ $(ARGS)

check docs clean: orchestrator
	@.venv/bin/invoke $@ $(ARGS)

base-image: orchestrator
	@.venv/bin/python -Es -m tools.base_image $(ARGS)

# ARGS are quoted again, so that pytest gets ARGS="-m 'not stacks'" as it was written.
test test-all quick: orchestrator
	@.venv/bin/invoke test $(if $(filter quick,$@),--quick) $(if $(filter test-all,$@),--all) $(if $(ARGS),--args='$(subst ','\'',$(ARGS))')

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

# Runs every time (a tenth of a second), since only the marker in .venv says whether it is whole, from the current lock
# and of this checkout.
orchestrator:
	@$(PYTHON) -Es -m suite.environments orchestrator
