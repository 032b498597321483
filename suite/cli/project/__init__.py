"""The commands on this project and this machine: environments, images, locks, lists, and what is missing."""
