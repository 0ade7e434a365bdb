"""Goals."""
