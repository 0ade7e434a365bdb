"""Starts the MCP server, for hosts that run the entry point instead of the command of the manifest."""

import sys

from ringbolt.__main__ import run

sys.argv[1:] = ["mcp"]
run()
