"""What a tool call is: the tool, the programs of a shell command, what it does, and whether it failed."""
