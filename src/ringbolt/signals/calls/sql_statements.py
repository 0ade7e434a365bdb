"""SQL statements: whether a text with statements writes, and a query that shows what it wrote."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...model.lazy_regex import lazy_regex
from ..text_layout import one_line

_MOST = 50_000
_COMMENTS = lazy_regex(r"--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|^[ \t]*+#[^\n]*", re.M)
_STRINGS = lazy_regex(r"'(?:[^']|'')*+'", re.S)
_NAME = r"(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?([\w.\"`\[\]$-]+)"
# What a statement writes to; the first that matches counts.
_WRITES = tuple(
    (lazy_regex(rf"(?is)^\s*{pattern}"), check)
    for pattern, check in (
        (rf"insert\s+(?:or\s+\w+\s+|ignore\s+)?into\s+{_NAME}", "SELECT * FROM {0} ORDER BY 1 DESC LIMIT 5"),
        (rf"replace\s+into\s+{_NAME}", "SELECT * FROM {0} ORDER BY 1 DESC LIMIT 5"),
        (rf"update\s+{_NAME}\s+set\b", "SELECT * FROM {0}{where} LIMIT 5"),
        (rf"delete\s+from\s+{_NAME}", "SELECT count(*) FROM {0}{where}"),
        (rf"truncate\s+(?:table\s+)?{_NAME}", "SELECT count(*) FROM {0}"),
        (rf"merge\s+into\s+{_NAME}", "SELECT count(*) FROM {0}"),
        (rf"copy\s+{_NAME}[^;]*?\bfrom\b", "SELECT count(*) FROM {0}"),
        (rf"\\copy\s+{_NAME}[^;]*?\bfrom\b", "SELECT count(*) FROM {0}"),
        (rf"load\s+data\b[^;]*?into\s+table\s+{_NAME}", "SELECT count(*) FROM {0}"),
        ((rf"(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:global\s+|local\s+|unlogged\s+|external\s+)?"
         rf"(?:table|(?:materialized\s+)?view|sequence|type)\s+{_NAME}"), "{schema}"),
        (rf"(?:create|drop)\s+(?:unique\s+)?index\s+(?:concurrently\s+)?{_NAME}", "{schema}"),
        ((rf"(?:create|alter|drop)\s+(?:database|schema|user|role|extension|function|procedure|trigger"
         rf"|policy|domain"
         rf"|keyspace|event|tablespace|publication|subscription|server|dictionary|dataset"
         rf"|aggregate)\s+{_NAME}"),
         "{schema}"),
        (r"(?:create|alter|drop|rename|grant|revoke|reindex|refresh\s+materialized|attach|detach)\b()",
             "{schema}"),
        (r"(?:call|exec(?:ute)?|do)\s+([\w.$\[\]]+)", "a SELECT on what {0} changes"),
        (rf"with\b.*?\b(?:insert\s+into|update|delete\s+from)\s+{_NAME}", "SELECT count(*) FROM {0}"),
        (rf"select\b[^;]*?\binto\s+(?!outfile|@|dumpfile|strict\s){_NAME}\s+from\b", ("SELECT count(*) FROM"
             " {0}")),
        (rf"\.(?:import|restore)\s+\S+\s*{_NAME}?", "SELECT count(*) FROM {0}"),
        (r"(?:match\b.*\b|^)(?:merge|create|delete|detach\s+delete|set|remove)\s*\(?()", ("MATCH (n) RETURN"
             " count(n)")),
    )
)  # fmt: skip
_TEMPORARY = lazy_regex(r"(?is)^\s*create\s+(?:temp|temporary)\b|^\s*(?:explain|describe|desc)\b")
# EXPLAIN ANALYZE runs its statement.
_RUNS_IT = lazy_regex(
    r"(?is)^\s*explain\s+(?:\([^)]*\banaly[sz]e\b(?!\s*(?:false|off|0)\b)[^)]*\)"
    r"|(?:verbose\s+)?analy[sz]e\b(?:\s+verbose\b)?)"
)
_WHERE = lazy_regex(r"(?is)\bwhere\b(.{1,200}?)(?:\breturning\b|\border\s+by\b|\blimit\b|$)")
_SCHEMA = {
    "psql": "\\d {0}",
    "mysql": "SHOW CREATE TABLE {0}",
    "sqlite3": ".schema {0}",
    "duckdb": "DESCRIBE {0}",
}


class SqlWrite(NamedTuple):
    """A statement that writes: what to, and a query that shows it."""

    statement: str
    target: str
    check: str


def sql_write(text: str, program: str = "") -> SqlWrite | None:
    """The first statement of a text that writes something lasting; None if it only reads, or rolls back."""
    plain = _COMMENTS.sub(" ", text[:_MOST])
    hidden = _STRINGS.sub("''", plain)
    statements = [one for one in hidden.split(";") if one.strip()]
    if statements and statements[-1].split()[0].lower() == "rollback":
        return None
    for one in statements:
        one = _RUNS_IT.sub("", one)
        if _TEMPORARY.match(one):
            continue
        if (found := _write(one, _where(plain if len(statements) == 1 else one), program)) is not None:
            return found
    return None


def _where(statement: str) -> str:
    """The condition of a statement."""
    found = _WHERE.search(statement.rstrip().rstrip(";"))
    return f" WHERE {one_line(found[1], 120)}" if found else ""


def _write(statement: str, where: str, program: str) -> SqlWrite | None:
    first = statement.split(None, 1)[0].lower()
    for pattern, check in _WRITES:
        if check.startswith("MATCH") and program != "cypher-shell":
            continue
        found = pattern.match(statement)
        if found is None:
            continue
        target = (found[1] or "").strip('"`[]')
        if check == "{schema}":
            check = _SCHEMA.get(program, "SELECT 1 FROM {0} LIMIT 1") if target else "the schema"
        return SqlWrite(first, target, check.replace("{0}", target).replace("{where}", where))
    return None
