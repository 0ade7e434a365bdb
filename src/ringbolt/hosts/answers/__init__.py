"""What hooks answer with the help of the store: packets, lists of open tasks, warnings, notices.

`store_hook` is the entrance from the capture hook. It only reads where that is enough; otherwise
`store_answers` drains the journal first, and `context_injection` makes the answer.
"""
