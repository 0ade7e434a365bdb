"""`ringbolt install`: add our hooks, MCP server and plugins to the settings of hosts, and remove them.

`targets` finds the files to change in the host table, `json_settings` and `toml_settings` edit them without
touching anything else, `plugins` writes files that are entirely ours, and `installer` applies all changes.
"""
