"""The web page: its static files, its own reads, and sign-in. It is served by `surfaces.http`."""
