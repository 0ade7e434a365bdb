"""Signals: what a tool call, a command, an output or a sentence means.

`calls` reads tool calls and their outputs, `effects` what they change outside, `speech` what a sentence of
an agent or user does, `reports` what a message says about a plan. The modules beside them split texts into
lines, sentences, words and search terms, and hold the lists of phrases (done, undecided, asked …). Everything
here is a pure function of a text. May import `model` only; the higher rooms keep no lists of their own.
"""
