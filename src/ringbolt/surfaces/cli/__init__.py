"""The command line. `main` loads only the module of the command that is run."""
