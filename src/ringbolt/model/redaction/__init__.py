"""Redaction: replaces the secrets in a text or a JSON value by a marker. Pure, and in linear time.

A secret becomes `[redacted password]`: what it was, and nothing that could be taken for a name, a commit or
a value. Three kinds of rules find secrets: codes that a vendor marks with a prefix (`codes`); places that
hold a secret by their structure (`addresses`, `headers`, `commands`, and the patterns of `rules`); and values
whose *name* says that they are secret (`names`), if they look like one (`values`, `randomness`): directly
after the name (`fields`), in a sentence (`sentences`) or in a table (`tables`). `passes` decides which of
them look at a text. `rules` has the tables and patterns.

The capture hook carries these modules inside its one compiled file, joined into one, without their imports
and with ready-compiled patterns (hosts/hook_build.py). So a name at the top of a module must be unique among
them, they may import only names that the hook has stand-ins for, and every pattern must be in `rules`; a test
checks this.
"""

from . import (
    addresses,
    codes,
    commands,
    fields,
    headers,
    markers,
    matching,
    names,
    passes,
    private_parts,
    randomness,
    redactor,
    sentences,
    storable_text,
    tables,
    values,
)
from . import rules as rules
from .codes import EXACT_HINTS as EXACT_HINTS
from .markers import MARK as MARK
from .markers import is_marked as is_marked
from .markers import marker as marker
from .names import secret_kind as secret_kind
from .passes import HINTS as HINTS
from .private_parts import without_private as without_private
from .private_parts import without_private_blocks as without_private_blocks
from .randomness import entropy as entropy
from .redactor import Redactor as Redactor
from .rules import pattern_sources as pattern_sources
from .storable_text import bounded as bounded
from .storable_text import storable as storable
from .values import is_secret as is_secret

# The modules with code, each after those that it imports.
MODULES = (
    markers,
    matching,
    private_parts,
    storable_text,
    randomness,
    names,
    values,
    codes,
    addresses,
    headers,
    commands,
    sentences,
    fields,
    tables,
    passes,
    redactor,
)
