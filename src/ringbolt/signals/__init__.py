"""Signals: what a tool call, a command, an output or a sentence is.

The one place for the table of tools, the lists of phrases (done, undecided, asked …), the splitting of texts
into lines, sentences, words and search terms, command lines and failure messages. Everything here is a pure
function of a text. May import `model` only; the higher rooms keep no lists of their own.
"""
