"""Distilling: what follows from the record without anyone having said it. Nothing here asks a model."""
