"""The command line. `main` loads the module of the command that is run, and no other."""
