"""The commands of `holdfast`, a module for each kind; `surfaces/cli.py` loads the one that is run."""
