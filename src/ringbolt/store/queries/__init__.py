"""The SQL of the store, one module per table or view; each runs inside a transaction of either engine."""
