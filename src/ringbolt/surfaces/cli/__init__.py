"""The commands of `ringbolt`, a module for each kind; `surfaces/cli.py` loads the one that is run."""
