"""The guard: one line before a tool call that the agent would regret.

`warnings` asks each kind of reason in turn; `rules` collects what is ruled out in a repository, and `cards`
tells hooks which calls to ask about. See docs/explanation/guard.md.
"""
