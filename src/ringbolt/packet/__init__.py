"""Packet: what a model reads of a task within a token budget.

`resume` is the packet after a compaction, `state` the YAML and one-line state, `capsule` the file for a
hand-off, `outline` the steps with their actions. `budget` fills a budget by priority, `tokens` counts, and
`encode` makes recorded text safe in every sink. On the path of SessionStart, so it must stay light: it may
import `model`, `journal`, `store` and `ledger`, and neither search, questions nor the model client.
"""
