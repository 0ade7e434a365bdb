"""What a sentence does: decide, rule out, state a value, ask, block or explain, read by a linear model."""
