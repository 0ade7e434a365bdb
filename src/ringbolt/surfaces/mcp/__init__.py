"""The MCP server: tools, resources and prompts over stdio and streamable HTTP, in both protocol eras.

`tools`, `texts` and `resources` do not import the package mcp, which is optional and slow to load.
"""
