"""Ways to reach the memory from outside Python."""
