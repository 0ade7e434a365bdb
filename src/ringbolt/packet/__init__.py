"""Packet: what a model reads of a task within a token budget.

How rows become a packet: `operations` reads one snapshot of the task. `resume` makes parts of it, each a
heading with rows; `resume_rows` writes a row in a short form and longer ones, `selection` shortens a
request, `worth` says how much room a row deserves. `budget` takes forms in the order of their priority while
they fit, by the count of `tokens`, and prints the parts in their order. `encode` makes recorded text safe in
every sink.

The other views: `state` is the YAML and one-line state, `capsule` the file for a hand-off, `outline` the
steps with their actions. All of this is on the path of SessionStart and must stay light: it may import
`model`, `journal`, `store` and `ledger`, and neither search, questions nor the model client.
"""
