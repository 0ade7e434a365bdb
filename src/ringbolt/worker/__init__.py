"""Background work: a pool of workers, their schedule, their jobs and webhooks.

May import everything below the surfaces and hosts.
"""
