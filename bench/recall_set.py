"""How well recall finds what an agent wrote down: `python bench/recall_set.py`.

A history of six tasks is generated, the same each time: deployments, a migration, refactorings, incidents,
with their commands, outputs, errors, decisions and values, between hundreds of events of everyday noise. Some
sixty questions are asked about it, each with the event that answers it. Beside it, in the same run, is FTS5
with porter over the same texts, ranked by its own bm25. The ranking of Ringbolt was not made with this set.
RINGBOLT_EMBEDDER and the other settings apply as they always do.
"""

# ruff: noqa: E501 - what an agent writes has no line breaks

from __future__ import annotations

import argparse
import random
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from ringbolt import TaskMemory
from ringbolt.store.event_texts import full_text
from ringbolt.store.queries.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringbolt.store.tx import Row, Tx

AT = (1, 5, 10)
TASKS = {
    "billing": ("Move billing to PostgreSQL", ["Dump", "Convert schema", "Load", "Switch over", "Watch"]),
    "deploy": ("Deploy the gateway to the new cluster", ["Build image", "Push", "Roll out", "Smoke test"]),
    "auth": ("Rework the login flow", ["Map the code", "Introduce sessions", "Remove tokens", "Test"]),
    "search": ("Speed up product search", ["Profile", "Index", "Cache", "Measure"]),
    "mail": ("Fix bounced mail", ["Reproduce", "Fix", "Backfill"]),
    "docs": ("Publish the handbook", ["Convert", "Check links", "Publish"]),
}
# What matters: a name, the task, how it was written, and what it says.
FACTS: list[tuple[str, str, str, dict[str, object]]] = [
    ("dump", "billing", "action", {"summary": "Dumped the old database", "tool": "bash", "input": {"command": "mysqldump --single-transaction billing > /backup/billing-0412.sql"}, "output": "412 MB written in 96 s"}),
    ("enum", "billing", "error", {"summary": "Loading failed on column invoices.state", "detail": "ERROR 22P02: invalid input value for enum invoice_state: \"PARTLY_PAID\""}),
    ("enum_fix", "billing", "decide", {"choice": "Map PARTLY_PAID to partially_paid while loading", "reasoning": "Changing the type would break the reporting views; a mapping in the loader is reversible."}),
    ("zero_date", "billing", "error", {"summary": "Rows with date 0000-00-00 are refused", "detail": "date/time field value out of range in table payments, 318 rows"}),
    ("zero_date_fix", "billing", "decide", {"choice": "Store NULL for zero dates", "reasoning": "Nobody reads them, and finance agreed by phone."}),
    ("pgversion", "billing", "set", {"name": "postgres_version", "value": "16.4"}),
    ("dsn", "billing", "set", {"name": "billing_dsn", "value": "postgresql://billing@db-7.internal:6432/billing"}),
    ("replica_lag", "billing", "message", {"text": "The read replica was 41 minutes behind after the bulk load, because wal_keep_size was too small."}),
    ("copy", "billing", "decide", {"choice": "Load with COPY in batches of 50,000 rows", "options": ["INSERT", "COPY", "pgloader"], "reasoning": "pgloader guessed the types wrongly twice, single inserts would take nine hours."}),
    ("pgloader", "billing", "exclude", {"what": "pgloader for the invoices table", "why": "It turns tinyint(1) into boolean and drops the value 2.", "symptom": "Totals differ by 1,204 rows"}),
    ("cutover", "billing", "message", {"text": "Switched traffic over at 03:10, the old primary is read only since then."}),
    ("checksum", "billing", "action", {"summary": "Compared row counts and sums of both databases", "tool": "bash", "input": {"command": "python tools/compare_sums.py --tables invoices,payments"}, "output": "invoices 8,113,204 = 8,113,204; payments differ by 0"}),
    ("finance", "billing", "instruct", {"summary": "Never touch the table ledger_entries without asking the finance team first"}),
    ("image", "deploy", "set", {"name": "gateway_image", "value": "registry.internal/gateway:v2.14.3"}),
    ("image_old", "deploy", "message", {"text": "v2.14.2 crashes at start: it was built without the libssl package."}),
    ("oom", "deploy", "error", {"summary": "Pod gateway-7c9f was killed", "detail": "Last state: Terminated, reason OOMKilled, exit code 137, limit 256Mi"}),
    ("memory_limit", "deploy", "decide", {"choice": "Raise the memory limit to 512Mi", "reasoning": "The resident set after warm-up is 340Mi, measured over an hour."}),
    ("probe", "deploy", "exclude", {"what": "A readiness probe on /", "why": "It answers 200 before the routes are loaded.", "symptom": "502 for the first 20 seconds"}),
    ("healthz", "deploy", "decide", {"choice": "Use /internal/healthz for the readiness probe", "reasoning": "It waits until the route table is there."}),
    ("helm", "deploy", "action", {"summary": "Rolled out with helm", "tool": "bash", "input": {"command": "helm upgrade gateway charts/gateway -f values/prod-eu.yaml --atomic --timeout 5m"}, "output": "Release \"gateway\" has been upgraded. REVISION: 37"}),
    ("rollback", "deploy", "message", {"text": "If the error rate goes above 2 percent, go back with helm rollback gateway 36."}),
    ("ingress", "deploy", "error", {"summary": "Certificate for api.example.org was not renewed", "detail": "acme: error 403 urn:ietf:params:acme:error:rateLimited, too many certificates already issued"}),
    ("cluster", "deploy", "set", {"name": "cluster_id", "value": "eks-prod-eu-3f9a"}),
    ("token_leak", "auth", "discover", {"summary": "Refresh tokens are written to the access log by LoggingMiddleware", "detail": "src/server/middleware/LoggingMiddleware.ts prints the whole Authorization header"}),
    ("session_store", "auth", "decide", {"choice": "Keep sessions in Redis with a sliding expiry of 30 minutes", "options": ["JWT", "Redis", "database table"], "reasoning": "Revoking must work at once; a signed token cannot be taken back."}),
    ("csrf", "auth", "error", {"summary": "POST /login answers 403 in Safari", "detail": "ForbiddenError: invalid csrf token, the cookie was set without SameSite=None"}),
    ("user_model", "auth", "action", {"summary": "Renamed getUserById to findAccountById", "tool": "edit", "input": {"file": "src/server/models/account_repository.ts"}, "output": "27 call sites changed"}),
    ("flaky", "auth", "discover", {"summary": "The test 'expires idle sessions' is flaky because it uses the wall clock"}),
    ("commit", "auth", "message", {"text": "Merged as 8c41d07e after review by Priya."}),
    ("bcrypt", "auth", "decide", {"choice": "Hash passwords with argon2id", "reasoning": "bcrypt cuts off after 72 bytes, and long passphrases are allowed now."}),
    ("rate", "auth", "instruct", {"summary": "At most five attempts to sign in per minute and address, says the security team"}),
    ("ticket", "auth", "message", {"text": "The lockout of support staff is tracked in SEC-2291."}),
    ("slow_query", "search", "discover", {"summary": "The slowest statement is the facet count over product_attributes: 1.8 s", "detail": "Seq Scan on product_attributes, rows removed by filter: 2,940,113"}),
    ("index", "search", "action", {"summary": "Created a partial index", "tool": "psql", "input": {"sql": "CREATE INDEX CONCURRENTLY idx_attr_facet ON product_attributes (attribute_id, value_id) WHERE visible"}, "output": "CREATE INDEX, 214 s"}),
    ("cache_ttl", "search", "set", {"name": "facet_cache_ttl_seconds", "value": 900}),
    ("cache_key", "search", "error", {"summary": "Wrong prices were shown after the cache was introduced", "detail": "The key of FacetCache.buildKey() did not contain the currency"}),
    ("es", "search", "exclude", {"what": "Moving facets to Elasticsearch", "why": "Stock changes must be visible within a second; its refresh takes longer under load."}),
    ("p95", "search", "message", {"text": "p95 of /search went from 2,310 ms to 190 ms with the partial index."}),
    ("profile", "search", "action", {"summary": "Profiled a request", "tool": "bash", "input": {"command": "py-spy record -o profile.svg --pid 4411"}, "output": "38 % in serialize_product(), 21 % in json.dumps"}),
    ("orjson", "search", "decide", {"choice": "Replace json by orjson 3.10.7 in the API layer", "reasoning": "It takes a fifth of the time for lists of products."}),
    ("spf", "mail", "discover", {"summary": "Mail bounces because the SPF record lacks the new relay 198.51.100.23"}),
    ("bounce", "mail", "error", {"summary": "Receipts are rejected by outlook.com", "detail": "550 5.7.515 Access denied, sending domain does not meet the required authentication level"}),
    ("dkim", "mail", "decide", {"choice": "Sign with a 2048 bit DKIM key under selector s2026a", "reasoning": "The old key of 1024 bits is refused by some receivers."}),
    ("backfill", "mail", "action", {"summary": "Sent the missing receipts again", "tool": "bash", "input": {"command": "python manage.py resend_receipts --since 2026-02-11 --rate 20"}, "output": "6,402 sent, 17 skipped"}),
    ("unicode", "mail", "error", {"summary": "Subject lines with umlauts arrive broken", "detail": "UnicodeEncodeError: 'ascii' codec can't encode character '\\xfc' in position 7, mailer/render_subject.py line 88"}),
    ("template", "mail", "message", {"text": "The footer of templates/receipt_de.html must keep the register number HRB 20871."}),
    ("pandoc", "docs", "set", {"name": "pandoc_version", "value": "3.1.11"}),
    ("links", "docs", "action", {"summary": "Checked all links", "tool": "bash", "input": {"command": "lychee --offline docs/**/*.md"}, "output": "1,022 links, 9 broken, all in docs/handbook/onboarding.md"}),
    ("dark", "docs", "decide", {"choice": "No dark theme in the first release", "reasoning": "The diagrams have a white background and cannot be read on black."}),
    ("cdn", "docs", "error", {"summary": "The site shows the old pages after publishing", "detail": "x-cache: HIT, age: 86012; the purge was sent to the wrong zone id 0b77c1"}),
    ("owner", "docs", "instruct", {"summary": "Every page needs a named owner in its front matter, otherwise it is not published"}),
]  # fmt: skip
# Group, question, the name of what answers it.
QUESTIONS: list[tuple[str, str, str]] = [
    ("identifiers", "PARTLY_PAID", "enum"), ("identifiers", "invoice_state", "enum"),
    ("identifiers", "findAccountById", "user_model"), ("identifiers", "SEC-2291", "ticket"),
    ("identifiers", "8c41d07e", "commit"), ("identifiers", "idx_attr_facet", "index"),
    ("identifiers", "eks-prod-eu-3f9a", "cluster"), ("identifiers", "s2026a", "dkim"),
    ("identifiers", "HRB 20871", "template"), ("identifiers", "FacetCache buildKey", "cache_key"),
    ("identifiers", "facet cache ttl", "cache_ttl"), ("identifiers", "wal_keep_size", "replica_lag"),
    ("paths", "/backup/billing-0412.sql", "dump"), ("paths", "compare_sums.py", "checksum"),
    ("paths", "values/prod-eu.yaml", "helm"), ("paths", "account_repository.ts", "user_model"),
    ("paths", "src/server/middleware/LoggingMiddleware.ts", "token_leak"),
    ("paths", "logging middleware", "token_leak"), ("paths", "render_subject.py", "unicode"),
    ("paths", "onboarding.md", "links"), ("paths", "templates/receipt_de.html", "template"),
    ("paths", "/internal/healthz", "healthz"), ("paths", "charts/gateway", "helm"),
    ("paths", "db-7.internal:6432", "dsn"),
    ("versions", "v2.14.3", "image"), ("versions", "v2.14.2", "image_old"), ("versions", "orjson 3.10.7", "orjson"),
    ("versions", "pandoc version", "pandoc"), ("versions", "which version of postgres", "pgversion"),
    ("versions", "16.4", "pgversion"), ("versions", "gateway image tag", "image"),
    ("versions", "revision 37", "helm"), ("versions", "198.51.100.23", "spf"), ("versions", "3.1.11", "pandoc"),
    ("errors", "22P02 invalid input value for enum", "enum"), ("errors", "exit code 137", "oom"),
    ("errors", "OOMKilled", "oom"), ("errors", "invalid csrf token", "csrf"),
    ("errors", "UnicodeEncodeError ascii codec can't encode", "unicode"), ("errors", "550 5.7.515", "bounce"),
    ("errors", "date/time field value out of range", "zero_date"), ("errors", "rateLimited acme", "ingress"),
    ("errors", "x-cache HIT", "cdn"), ("errors", "502 for the first seconds", "probe"),
    ("errors", "rows removed by filter", "slow_query"), ("errors", "403 on login in Safari", "csrf"),
    ("paraphrases", "why did we not go with signed tokens for logins?", "session_store"),
    ("paraphrases", "why was the container killed", "oom"),
    ("paraphrases", "how do we undo the release if it goes wrong", "rollback"),
    ("paraphrases", "which approach to loading data had to be given up", "pgloader"),
    ("paraphrases", "who must be asked before changing ledger entries", "finance"),
    ("paraphrases", "how much faster did searching get", "p95"),
    ("paraphrases", "why are customers not receiving their receipts", "bounce"),
    ("paraphrases", "why was the standby database late", "replica_lag"),
    ("paraphrases", "limit on failed sign-ins", "rate"),
    ("paraphrases", "reason against Elasticsearch", "es"),
    ("paraphrases", "what did we do with empty dates", "zero_date_fix"),
    ("paraphrases", "why is there no night mode", "dark"),
    ("paraphrases", "how are passwords stored now", "bcrypt"),
    ("paraphrases", "unreliable test", "flaky"),
    ("paraphrases", "visitors see stale pages", "cdn"),
    ("paraphrases", "customers saw a wrong amount", "cache_key"),
]  # fmt: skip
NOISE = (
    "Looked at {path} and took notes|Ran the tests of {part}: {n} passed|Read the output again, nothing new"
    "|Started on the next piece of {part}|The build of {part} is green|Asked for a review of {path}"
    "|Cleaned up {path}|Waited for the pipeline, {n} seconds|Version {v} of {part} is out, not used yet"
    "|Compared {path} with the one on the main branch|Restarted the worker of {part}|No errors in the log since {n} o'clock"
    "|Updated the ticket OPS-{n}|Changed a comment in {path}|The load on {part} is normal"
).split("|")
PARTS = (
    "billing gateway login search mail handbook database cache sessions certificates receipts facets".split()
)
WRITERS: dict[str, Callable[..., int]] = {
    "action": lambda m, t, **said: m.task_log_action(t, type="cli", **said).seq,
    "error": lambda m, t, **said: m.task_remember(t, type="error", **said).seq,
    "discover": lambda m, t, **said: m.task_remember(t, **said).seq,
    "instruct": lambda m, t, **said: m.task_remember(t, type="user_instruction", **said).seq,
    "decide": lambda m, t, **said: m.task_decide(t, **said).seq,
    "exclude": lambda m, t, **said: m.task_exclude(t, **said).seq,
    "set": lambda m, t, **said: m.task_set(t, **said).seq,
    "message": lambda m, t, text: m.task_update(t, text).seq,
}


def write_history(memory: TaskMemory, noise: int, clock: list[float]) -> dict[str, tuple[str, int]]:
    """Write the tasks, what matters, and noise between; returns where each thing that matters stands."""
    dice = random.Random(20)
    ids = {
        key: memory.task_register(name, plan, request=f"Please: {name}.").task_id
        for key, (name, plan) in TASKS.items()
    }
    where: dict[str, tuple[str, int]] = {}
    for name, task, way, said in FACTS:
        for _ in range(dice.randint(noise // 2, noise + noise // 2)):
            clock[0] += dice.choice([5, 40, 300])
            _write_noise(memory, ids[dice.choice([task, task, *TASKS])], dice)
        clock[0] += 30
        where[name] = (ids[task], WRITERS[way](memory, ids[task], **said))
    return where


def _write_noise(memory: TaskMemory, task: str, dice: random.Random) -> None:
    part = dice.choice(PARTS)
    text = dice.choice(NOISE).format(
        part=part,
        path=f"src/{part}/{dice.choice(PARTS)}_{dice.choice(['view', 'model', 'test', 'util'])}.py",
        n=dice.randint(2, 400),
        v=f"v{dice.randint(1, 4)}.{dice.randint(0, 20)}.{dice.randint(0, 9)}",
    )
    if dice.random() < 0.3:
        memory.task_log_action(task, text, tool="bash", output=f"ok, {dice.randint(1, 999)} lines")
    else:
        memory.task_update(task, text)


class Plain:
    """FTS5 with porter over the same texts, ranked by its own bm25; any of the words may be there."""

    def __init__(self, memory: TaskMemory) -> None:
        self._execute = apsw.Connection(":memory:").execute
        self._execute(
            "CREATE VIRTUAL TABLE plain USING fts5(task UNINDEXED, seq UNINDEXED, text, tokenize='porter')"
        )
        for row in memory.store.read(_texts):
            self._execute("INSERT INTO plain VALUES (?, ?, ?)", (row["task_id"], row["seq"], full_text(row)))

    def search(self, query: str, limit: int) -> list[tuple[str, int]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        sql = "SELECT task, seq FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
        return [(task, seq) for task, seq in self._execute(sql, (words, limit))]


def _texts(tx: Tx) -> list[Row]:
    return Search(tx).texts_after(0, 1_000_000)


def scores(
    search: Callable[[str, int], list[tuple[str, int]]], where: dict[str, tuple[str, int]]
) -> tuple[dict[str, list[float]], list[str]]:
    """For each group recall at 1, 5, 10 and the mean reciprocal rank; and the questions that found nothing."""
    ranks: dict[str, list[int]] = {}
    missed: list[str] = []
    for group, question, name in QUESTIONS:
        found = search(question, AT[-1])
        place = found.index(where[name]) + 1 if where[name] in found else 0
        for key in (group, "all"):
            ranks.setdefault(key, []).append(place)
        if not place:
            missed.append(f"{question} ({name})")
    table = {
        group: [sum(0 < place <= k for place in places) / len(places) for k in AT]
        + [sum(1 / place for place in places if place) / len(places)]
        for group, places in sorted(ranks.items(), key=lambda pair: pair[0] == "all")
    }
    return table, missed


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall of an agent's history, against FTS5's own bm25.")
    parser.add_argument(
        "--noise", type=int, default=14, help="events of noise before each thing that matters"
    )
    parser.add_argument("--missed", action="store_true", help="also print what was not among the first ten")
    options = parser.parse_args()
    clock = [1_772_366_400.0]
    with (
        tempfile.TemporaryDirectory() as folder,
        TaskMemory.open(Path(folder) / "store.db", workspace="/bench", clock=lambda: clock[0]) as memory,
    ):
        where = write_history(memory, options.noise, clock)
        events = sum(1 for _ in memory.events())
        print(f"{events} events, {len(QUESTIONS)} questions")

        def recall(query: str, limit: int) -> list[tuple[str, int]]:
            return [
                (hit.task_id, hit.seq) for hit in memory.task_recall(query, limit=limit, titles=True).hits
            ]

        print(f"{'':12} {'questions':12} {'R@1':>6} {'R@5':>6} {'R@10':>6} {'MRR':>6}")
        for who, search in (("ringbolt", recall), ("FTS5 bm25", Plain(memory).search)):
            table, missed = scores(search, where)
            for group, figures in table.items():
                print(f"{who:12} {group:12} " + " ".join(f"{figure:6.3f}" for figure in figures))
            if options.missed:
                print("\n".join(f"    missed: {line}" for line in missed))


if __name__ == "__main__":
    main()
