"""Surfaces: the command line, the MCP server, the HTTP server and the web page.

Each is generated from the table of operations and adds only its own presentation; rules about tasks are
elsewhere. Several surfaces share `doctor` and `demo`.
"""
