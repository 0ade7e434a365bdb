"""`ringbolt install`: our hooks, MCP server and plugins in the settings of hosts, and their removal.

`targets` works out from the host table which files change, `json_settings` and `toml_settings` edit them
without touching anything else, `plugins` makes files that are entirely ours, and `installer` applies it all.
"""
