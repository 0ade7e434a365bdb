"""The outside world: files written atomically, commands, and an HTTP client, each bounded in time and size.

It imports only `model`.
"""
