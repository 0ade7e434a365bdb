"""Hosts: programs that run agents. What happens in them is captured as it happens."""
