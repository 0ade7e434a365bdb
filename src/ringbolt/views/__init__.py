"""Views: what a model and a person read. Pure functions of a snapshot and a budget of tokens.

Nothing is cut in the store, only in what is shown.

The same state gives the same bytes: no view asks for the time. Ages are rendered from a time that is
passed in, coarsely, and only where a view changes anyway.
"""
