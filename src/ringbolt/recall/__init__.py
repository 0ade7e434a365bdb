"""Recall: finding anything that was ever written down.

The engine only says which texts have a term, newest first. What the terms of a text are (`terms`, `texts`)
and which texts are the best (`ranking`) is decided here, so that both engines give the same answers.
"""
