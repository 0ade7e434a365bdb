"""Surfaces: the command line, the MCP server, the HTTP server and the web page.

Each is generated from the table of operations and holds only what is particular to it. No rule about tasks
lives here. `doctor` and `demo` are shared by several surfaces.
"""
