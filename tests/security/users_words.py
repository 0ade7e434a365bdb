"""A task with words of the user in every place, where they are seen, and calls made of the declarations."""

from __future__ import annotations

from hypothesis import strategies as st

from ringbolt import RingboltError
from ringbolt.operations import OPERATIONS, parameters

# What the user said, by the place where it was said. Each text has a name of its own to look for.
WORDS = {
    "request": "Move the ledger of the harbour to zinnober",
    "goal": "The harbour ledger runs on veridian",
    "step": "Weigh the anchors with ultramarin",
    "instruction": "Never touch the lighthouse called krapplack",
    "later": "Prefer the quay named karmin",
    "decision": "The cargo goes by indigo",
    "exclusion": "Do not use the crane umbra",
    "note": "The pilot lives at sepia",
    "question": "Who pays for the buoy magenta",
    "variable": "petrol",
    "answer": "Yes, the tide table of purpur",
    "message": "I looked at the dock siena myself",
    "next": "Ask the harbour master about lindgruen",
    "blocker": "The permit of kobalt is missing",
}
MARKS = {name: text.split()[-1] for name, text in WORDS.items()}
SHORT = st.sampled_from(["done", "not needed", "replaced", "x", "ok = 1"])


def prepare(user, agent):
    """A task with the user's words, and with some of the agent's; returns its id and events."""
    task = user.task_register(
        "Harbour", ["Survey", WORDS["step"]], request=WORDS["request"], goal=WORDS["goal"]
    ).task_id
    asked = agent.task_remember(task, "Which table?", type="question").seq
    seqs = {
        "instruction": user.task_remember(task, WORDS["instruction"], type="user_instruction").seq,
        "later": user.task_remember(task, WORDS["later"], type="user_instruction").seq,
        "decision": user.task_decide(task, choice=WORDS["decision"]).seq,
        "exclusion": user.task_exclude(task, what=WORDS["exclusion"], why="it broke").seq,
        "note": user.task_remember(task, WORDS["note"]).seq,
        "question": user.task_remember(task, WORDS["question"], type="question").seq,
        "variable": user.task_set(task, "colour", WORDS["variable"]).seq,
        "answer": user.task_remember(
            task, WORDS["answer"], type="user_instruction", resolves=asked
        ).seq,
        "message": user.task_update(task, WORDS["message"]).seq,
        "next": user.task_update(task, next=WORDS["next"], blockers=[WORDS["blocker"]]).seq,
    }  # fmt: skip
    seqs["wait"] = user.smart_wait("manual:", task_id=task, block=False).seq
    agent.task_decide(task, choice="An agent's choice")
    return task, seqs


def visible(memory, task):
    """Where each of the user's words can be seen: packet, state, task, search or thread."""
    packet = memory.task_resume(task, budget=8000).text
    state = memory.task_state(task)
    seen = memory.task_get(task)
    users = [
        *(entry.summary for entry in seen.instructions if entry.origin.channel == "user"),
        *(entry.summary for entry in seen.decisions if entry.origin.channel == "user"),
        *(entry.summary for entry in seen.exclusions if entry.origin.channel == "user"),
        *(entry.summary for entry in seen.questions if entry.origin.channel == "user"),
        *(entry.summary for entry in seen.notes if entry.origin.channel == "user"),
        *map(str, seen.variables.values()), seen.request or "", seen.goal or "", seen.next_step or "",
        *seen.blockers, *(item.title for item in seen.steps if item.dropped_in is None),
    ]  # fmt: skip
    thread = " ".join(
        event.text or ""
        for event in memory.task_thread(task, limit=1000).events
        if event.origin.channel == "user"
    )
    places = {"packet": packet, "state": state, "task": "\n".join(users), "thread": thread}
    found = {(place, name) for place, text in places.items() for name, mark in MARKS.items() if mark in text}
    for name, mark in MARKS.items():
        hits = memory.task_recall(mark, task_id=task).hits
        if any(mark in hit.snippet and hit.status in (None, "active") for hit in hits):
            found.add(("recall", name))
    # A packet has only the last few messages; all of them are in the thread and can be found.
    return found - {("packet", "message")}


# --- calls from the declarations --------------------------------------------------------------------

# What a parameter of this name can be, beyond what its type says: values that reach the user's words.
NUMBERS = (
    "seq",
    "at",
    "supersedes",
    "resolves",
    "invalidates",
    "replaces",
    "intent",
    "action",
    "proposal",
    "criterion",
)
STATUSES = (
    "active paused waiting completed failed cancelled abandoned superseded skipped pending met waived".split()
)
# Operations on files and other stores have tests of their own (tests/security/test_imports.py); a drill or an
# upkeep reads much and writes about itself.
LEFT_OUT = frozenset(name for name, one in OPERATIONS.items() if one.scope == "read" or not one.http)


def values(parameter, task, seqs):
    """A strategy for an argument."""
    name, schema = parameter.name, parameter.schema
    if name in ("task_id", "goal_id", "other"):
        return st.just(task)
    if name == "wait_id":
        return st.just(f"{task}#{seqs['wait']}")
    if name in NUMBERS:
        return st.sampled_from([1, *seqs.values()])
    if name in ("item", "step", "after", "replaced_by"):
        return st.sampled_from(["1", "2", "s1", "s2"])
    if name in ("status", "step_status"):
        return st.sampled_from(STATUSES)
    if name == "name":
        return st.sampled_from(["colour", "Another name"])
    if name in ("source",):
        return st.sampled_from(
            [f"task:{task}", "channel:user", f"event:{task}#{seqs['decision']}", "principal:owner"]
        )
    if name == "type":
        return st.sampled_from(["discovery", "user_instruction", "decision", "cli", "error"])
    if name == "target":
        return st.sampled_from(["time:1s", task])
    known = {
        "block": st.just(False), "timeout": st.just(0),
        "kind": st.sampled_from(["decision", "supersedes", "task"]),
        "plan": st.lists(SHORT, max_size=3), "items": st.lists(SHORT, max_size=3),
        "steps": st.lists(SHORT, max_size=3), "workspace": st.just("/w"),
        "blockers": st.lists(SHORT, max_size=2),
        "choice": SHORT, "reset": SHORT,
    }  # fmt: skip
    if name in known:
        return known[name]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    by_kind = {
        "boolean": st.booleans(), "integer": st.integers(0, 30), "number": st.integers(0, 5),
        "array": st.lists(SHORT, max_size=2), "object": st.just({}),
    }  # fmt: skip
    return by_kind.get(kind, SHORT)


@st.composite
def calls(draw, task, seqs):
    """A call of any operation that writes, with some of its arguments."""
    name = draw(st.sampled_from(sorted(set(OPERATIONS) - LEFT_OUT)))
    arguments = {}
    for parameter in parameters(name):
        if parameter.name in ("key", "token", "expect", "confirm", "query"):
            continue
        if parameter.required or parameter.name == "task_id" or draw(st.booleans()):
            arguments[parameter.name] = draw(values(parameter, task, seqs))
    return name, arguments


def attempt(memory, name, arguments):
    """Make a call, and confirm it where it asks for that; whatever it refuses is refused."""
    try:
        result = getattr(memory, name)(**arguments)
        if token := getattr(result, "token", None) if "confirm" in OPERATIONS[name].parameters else None:
            getattr(memory, name)(**arguments, confirm=token)
    except RingboltError:
        pass
