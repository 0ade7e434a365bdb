"""Packet."""
