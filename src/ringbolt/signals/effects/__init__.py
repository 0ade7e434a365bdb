"""What a call changes outside the working tree: which effect, on what, and how its output says it ended."""
