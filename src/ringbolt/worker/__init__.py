"""Background work: a pool of worker threads, the schedule of recurring work, jobs and webhooks.

A worker leases jobs from the queue of a store; any number of processes may have one. May import every room
below hosts and surfaces.
"""
