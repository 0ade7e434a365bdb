"""Extract."""
