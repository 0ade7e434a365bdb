"""The commands. A module has one, or a few that belong together, and is loaded only for them."""
