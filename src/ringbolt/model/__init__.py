"""The vocabulary of Ringbolt: values, rules, errors, settings, and validation of arguments.

Everything here is pure: no clock, database or network, and no file except that `scope` looks for a `.git`
folder. Every other room imports this one; it imports none.
"""
