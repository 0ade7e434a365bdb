"""The HTTP server: every operation over HTTP, event streams, metrics, and the web page."""

PORT = 7420
