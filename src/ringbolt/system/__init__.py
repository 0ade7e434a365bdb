"""The operating system and the network: atomic files, commands, processes, and a bounded HTTP client.

It imports only `model`.
"""
