# ruff: noqa: E501 - texts
"""A model that lies with a valid citation changes no answer; honest wording is taken."""

from __future__ import annotations

import pytest

from ringbolt.llm import client
from tests.model_server import PATIENT, hangs, says, serving
from tests.support import sqlite_only

pytestmark = sqlite_only


@pytest.fixture(autouse=True)
def no_servers_known(monkeypatch):
    monkeypatch.setattr(client, "_servers", {})


class World:
    """A task with some of everything, and what opens its memory with a model."""

    def __init__(self, opened, url, clock):
        self._opened, self._url = opened, url
        memory = opened(url)
        user, tool = memory.acting_as(channel="user"), memory.acting_as(channel="tool")
        self.id = user.task_register(
            "Release the gateway",
            ["Fix the retry loop", "Write the load test", "Get the sign-off", "Publish the release"],
            request="Fix the timeouts and release the gateway as 2.4 before Friday.",
        ).task_id
        self.seqs = {"request": 1}
        self.note("fixed", memory.task_update(self.id, "Retry loop fixed", step=1, step_status="completed"))
        self.note("load", memory.task_update(self.id, "Writing it", step=2, step_status="active"))
        self.note(
            "pool",
            memory.task_decide(
                self.id, choice="Raise the pool to 50 connections", title="Size of the pool", options=["25", "100"],
                reasoning="the database allows 120 in all", risks=["the reporting job may starve"],
            ),
        )  # fmt: skip
        self.note(
            "nodocker", user.task_remember(self.id, "Never push to docker.io.", type="user_instruction")
        )
        self.note("nodelete", user.task_remember(
            self.id, "Do not delete the old bucket before Noor agrees.", type="user_instruction"))  # fmt: skip
        self.note("tests", tool.task_log_action(
            self.id, "Run the tests", type="cli", tool="Bash", input={"command": "pytest -q"},
            output="194 passed in 40.02s"))  # fmt: skip
        self.note(
            "mail", memory.task_intent(self.id, what="Send the mail to Ines", verify="look into the outbox")
        )
        self.note(
            "cpu", memory.task_remember(self.id, "TLS handshakes take 60 % of the CPU", type="discovery")
        )
        self.note("url", memory.task_set(self.id, "STAGING_URL", "https://pay.example.org"))
        clock.forward(3600)
        self.note(
            "noor", memory.task_update(self.id, "Yusuf granted the role migrator read access to the archive")
        )

    def note(self, name, written):
        self.seqs[name] = written.seq

    def asked(self, server, question, **settings):
        local = {"model_local_url": server.url, "model_local_name": "small"}
        memory = self._opened(self._url, **{**local, **PATIENT, **settings})
        return memory.task_ask(self.id, question)

    def plain(self, question):
        return self._opened(self._url).task_ask(self.id, question)


@pytest.fixture
def world(opened, store_url, clock):
    return World(opened, store_url, clock)


# The question, the lie, and the events it cites, which exist.
LIES = {
    "polarity": [
        ("did the mail to Ines go out?", "Yes, the mail to Ines was sent ({mail}).", "mail"),
        ("did the mail to Ines go out?", "The mail was sent to Ines ({mail}).", "mail"),
        ("did the mail to Ines go out?", "No, the mail to Ines was not sent ({mail}).", "mail"),
        ("is the load test written?", "Yes, the load test is written ({load}).", "load"),
        ("is the retry loop fixed?", "No, the retry loop is not fixed ({fixed}).", "fixed"),
        ("is the retry loop fixed?", "The retry loop is still open ({fixed}).", "fixed"),
    ],
    "object": [
        ("why did we raise the pool?", "Because TLS handshakes take 60 % of the CPU ({pool}).", "pool"),
        ("what is next?", "Deleting the old bucket is next ({nodelete}).", "nodelete"),
        ("what is the staging url?", "It is https://docker.io ({url}).", "url"),
        ("what is the staging url?", "The staging url is the archive of Noor ({url}).", "url"),
        ("what takes so much cpu?", "The load test takes 60 % of the CPU ({cpu}).", "cpu"),
    ],
    "step": [
        ("what is next?", "Step 4, publish the release, is next ({request}).", "request"),
        ("which step am I on?", "The current step is step 3, get the sign-off ({request}).", "request"),
        ("which step am I on?", "You are on step 1, fix the retry loop ({fixed}).", "fixed"),
        ("what is done?", "Steps 1 and 2 are done ({load}).", "load"),
        ("what is done?", "The load test is written and done ({load}).", "load"),
    ],
    "number": [
        ("what is the size of the pool?", "The pool has 100 connections ({pool}).", "pool"),
        ("why did we raise the pool?", "The pool was raised to 25 connections ({pool}).", "pool"),
        ("how many tests passed?", "50 tests passed ({tests}).", "tests"),
        ("what takes so much cpu?", "TLS handshakes take 40 % of the CPU ({cpu}).", "cpu"),
        ("what percentage is done?", "75 % of the steps are done ({fixed}).", "fixed"),
    ],
    "time": [
        ("when was the retry loop fixed?", "The retry loop was fixed at 09:15 ({fixed}).", "fixed"),
        ("when was the retry loop fixed?", "It ended on 2026-04-01 ({fixed}).", "fixed"),
    ],
    "permission": [
        ("may I push to docker.io?", "Yes, you may push to docker.io ({nodocker}).", "nodocker"),
        ("may I push to docker.io?", "Pushing to docker.io is allowed ({nodocker}).", "nodocker"),
        ("may I delete the old bucket?", "Yes, Noor agrees, so delete the old bucket ({nodelete}).", "nodelete"),
        ("what did the user forbid?", "The user allowed pushing to docker.io ({nodocker}).", "nodocker"),
    ],
    "outcome": [
        ("did the tests pass?", "No, the tests failed ({tests}).", "tests"),
        ("did the tests pass?", "The last run of the tests failed ({tests}).", "tests"),
        ("did the tests pass?", "It is unknown whether the tests passed ({tests}).", "tests"),
    ],
    "invented citation": [
        ("what is next?", "Step 2 is next (#999).", None),
        ("who approved it?", "Ines approved it (#998).", None),
    ],
    "filled in": [
        ("who pays the invoice?", "Yusuf pays the invoice ({noor}).", "noor"),
        ("what is the production url?", "It is https://pay.example.org ({url}).", "url"),
        ("was the customer refunded?", "Yes, the customer was refunded ({mail}).", "mail"),
        ("who leads the archive?", "Yusuf never had access to the archive ({noor}).", "noor"),
    ],
    "another language": [
        ("what is next?", "Der Lasttest ist der nächste Schritt und danach kommt die Freigabe ({load}).", "load"),
        ("did the tests pass?", "Les essais ont échoué pendant la nuit dernière à cause du serveur ({tests}).", "tests"),
    ],
    "empty": [
        ("what is next?", " ", "load"),
        ("what is next?", "({load}).", "load"),
        ("what is next?", "… ({load})", "load"),
        ("what is next?", "It is. ({load})", "load"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_with_a_valid_citation_is_rejected(world, kind):
    assert _believed(world, LIES[kind]) == []


LIES_NEAR_THE_TRUTH = [
    ("may I push to docker.io?", "Only to docker.io may you push ({nodocker}).", "nodocker"),
    ("did the tests pass?", "194 tests failed in 40.02s ({tests}).", "tests"),
    ("how many tests passed?", "194 of 240 tests passed ({tests}).", "tests"),
    ("why did we raise the pool?", "Because the database refuses more than 100 connections ({pool}).", "pool"),
    ("what are the risks of the pool size?", "The load test may starve ({pool}).", "pool"),
    ("when may I delete the old bucket?", "As soon as Yusuf agrees ({nodelete}).", "nodelete"),
    ("who granted access to the archive?", "Noor granted the role migrator read access to the archive ({noor}).", "noor"),
    ("what access was granted?", "The role migrator got write access to the archive ({noor}).", "noor"),
    ("did the mail to Ines go out?", "Ines has answered the mail ({mail}).", "mail"),
    ("which step comes after the load test?", "After the load test comes step 4, publish the release ({load}).", "load"),
    ("what did we decide about the pool?", "We decided against raising the pool to 50 connections ({pool}).", "pool"),
    ("when is the release due?", "The gateway is released as 2.4 on Friday or later ({request}).", "request"),
]  # fmt: skip


def test_a_lie_in_one_word_of_a_true_sentence_is_rejected(world):
    assert _believed(world, LIES_NEAR_THE_TRUTH) == []


def _believed(world, lies):
    """The lies that changed an answer."""
    passed = []
    for question, lie, cited in lies:
        text = lie.format(**{name: f"#{seq}" for name, seq in world.seqs.items()})
        cites = [world.seqs[cited]] if cited else [999]
        client._servers.clear()
        with serving(says({"answer": text, "cites": cites})) as server:
            found = world.asked(server, question)
        if found.source == "small" or found.text != world.plain(question).text:
            passed.append((question, text, found.text))
    return passed


class Move(World):
    """Another trade: people, money, hours, exceptions, outcomes that are known."""

    def __init__(self, opened, url, clock):
        self._opened, self._url = opened, url
        memory = opened(url)
        user = memory.acting_as(channel="user")
        self.id = user.task_register(
            "Move the practice", ["Sign the lease", "Hire the movers", "Pack the pharmacy", "Tell the clients"],
            request="Move to Mill Street by 31 August. Drugs travel only with Dr. Sato. Spend at most 22,000 euros.",
        ).task_id  # fmt: skip
        self.seqs = {"request": 1}
        self.note("lease", memory.task_update(self.id, "Lease signed, 1,950 euros a month for five years", step=1,
                                              step_status="completed"))  # fmt: skip
        self.note(
            "swift",
            memory.task_exclude(self.id, what="Swift movers", why="they do not insure medical devices"),
        )
        self.note("mover", memory.task_decide(
            self.id, choice="Ottomeyer", title="Moving company", options=["Kranich", "Swift"],
            reasoning="they have moved two dental practices", risks=["they cannot come on a Sunday"],
            if_wrong="Kranich keeps 29 August free"))  # fmt: skip
        self.note("offers", memory.task_remember(
            self.id, "Kranich asks 6,900 euros and Ottomeyer asks 5,400 euros", type="discovery"))  # fmt: skip
        self.note(
            "boxes", memory.task_update(self.id, "14 of 20 boxes are packed", step=3, step_status="active")
        )
        self.note("sms", user.task_remember(
            self.id, "Text the clients, but not after 20:00.", type="user_instruction"))  # fmt: skip
        self.note("parrot", user.task_remember(
            self.id, "The parrot stays with Lena, nobody else may carry it.", type="user_instruction"))  # fmt: skip
        gas = memory.task_intent(self.id, what="Cancel the gas contract", verify="letter")
        self.note("gas", gas)
        self.note(
            "gasdone",
            memory.task_outcome(self.id, intent=gas.seq, outcome="did", note="ends on 30 September"),
        )
        ad = memory.task_intent(self.id, what="Order the sign for the door", verify="shop")
        self.note("sign", ad)
        self.note(
            "signno",
            memory.task_outcome(self.id, intent=ad.seq, outcome="did_not", note="the shop is closed"),
        )
        stuck = "the landlord has not sent the drawing"
        self.note("blocked", memory.task_update(self.id, "Nowak needs the drawing", blockers=[stuck]))
        clock.forward(3600)


LIES_OF_A_MOVE = [
    ("why Ottomeyer?", "Because Ottomeyer has moved three dental practices ({mover}).", "mover"),
    ("why Ottomeyer?", "Because Ottomeyer can come on a Sunday ({mover}).", "mover"),
    ("why Ottomeyer?", "Kranich was chosen because they have moved two dental practices ({mover}).", "mover"),
    ("why not Swift?", "Because Swift insures medical devices ({swift}).", "swift"),
    ("why not Swift?", "Because Ottomeyer does not insure medical devices ({swift}).", "swift"),
    ("what is the fallback if Ottomeyer cancels?", "Kranich keeps 28 August free ({mover}).", "mover"),
    ("what is the fallback if Ottomeyer cancels?", "Swift keeps 29 August free ({mover}).", "mover"),
    ("what does Ottomeyer ask?", "Ottomeyer asks 6,900 euros ({offers}).", "offers"),
    ("what does Kranich ask?", "Kranich asks 5,400 euros ({offers}).", "offers"),
    ("how much is the rent?", "The lease costs 5,400 euros a month ({lease}).", "lease"),
    ("for how long is the lease?", "The lease is signed for two years ({lease}).", "lease"),
    ("how many boxes are packed?", "20 of 20 boxes are packed ({boxes}).", "boxes"),
    ("how many boxes are packed?", "20 boxes are packed ({boxes}).", "boxes"),
    ("is the pharmacy packed?", "Yes, the pharmacy is packed ({boxes}).", "boxes"),
    ("may I text the clients at 21:00?", "Yes, you may text the clients at 21:00 ({sms}).", "sms"),
    ("may I text the clients at 21:00?", "Texting the clients after 20:00 is fine ({sms}).", "sms"),
    ("who may carry the parrot?", "Dr. Sato may carry the parrot ({parrot}).", "parrot"),
    ("who may carry the parrot?", "Everybody may carry the parrot ({parrot}).", "parrot"),
    ("is the gas contract cancelled?", "No, the gas contract is not cancelled ({gasdone}).", "gasdone"),
    ("when does the gas contract end?", "The gas contract ends on 31 August ({gasdone}).", "gasdone"),
    ("was the sign ordered?", "Yes, the sign for the door was ordered ({sign}).", "sign"),
    ("was the sign ordered?", "It is unknown whether the sign was ordered ({sign}).", "sign"),
    ("what is blocking us?", "Nothing is blocking; the landlord has sent the drawing ({blocked}).", "blocked"),
    ("what is blocking us?", "Nowak has not sent the drawing ({blocked}).", "blocked"),
    ("who transports the drugs?", "Lena takes the drugs ({parrot}).", "parrot"),
    ("how much may we spend?", "You may spend 22,000 euros a month ({request}).", "request"),
    ("how much may we spend?", "At least 22,000 euros must be spent ({request}).", "request"),
    ("which step am I on?", "You are telling the clients, step 4 ({request}).", "request"),
    ("what is done?", "The lease is signed and the movers are hired ({lease}).", "lease"),
    ("how much is the rent?", "The lease costs 1,950 euros a year ({lease}).", "lease"),
    ("who travels with the drugs?", "Drugs never travel with Dr. Sato ({request}).", "request"),
    ("when must we have moved?", "Move to Mill Street after 31 August ({request}).", "request"),
    ("why not Swift?", "Swift cannot come on a Sunday ({swift}).", "swift"),
    ("how many boxes are left to pack?", "14 of 20 boxes are left to pack ({boxes}).", "boxes"),
    ("what is the risk of Ottomeyer?", "Kranich cannot come on a Sunday ({mover}).", "mover"),
    ("was the sign ordered?", "The sign was ordered although the shop is closed ({signno}).", "signno"),
]  # fmt: skip


def test_lies_about_people_money_hours_or_outcomes_are_rejected(opened, store_url, clock):
    move = Move(opened, store_url, clock)
    assert _believed(move, LIES_OF_A_MOVE) == []


class Records(World):
    """A third trade, with a replan, a limit in hours, a failed run and messages in other languages."""

    def __init__(self, opened, url, clock):
        self._opened, self._url = opened, url
        memory = opened(url)
        user, tool = memory.acting_as(channel="user"), memory.acting_as(channel="tool")
        self.id = user.task_register(
            "Move the records", ["Export", "Map the fields", "Trial import", "Freeze the old system", "Final import"],
            request="Move all records before 31 May. Nobody outside may see real names.",
        ).task_id  # fmt: skip
        self.seqs = {"request": 1}
        self.note(
            "export", memory.task_update(self.id, "48,310 records exported", step=1, step_status="completed")
        )
        self.note(
            "map", memory.task_update(self.id, "212 of 260 fields mapped", step=2, step_status="active")
        )
        self.note("run", tool.task_log_action(
            self.id, "Trial import", type="cli", tool="Bash", input={"command": "medicore import"},
            output="27 rejected: invalid birth date", status="failed"))  # fmt: skip
        self.note("hours", user.task_remember(
            self.id, "Imports only between 19:00 and 6:00.", type="user_instruction"))  # fmt: skip
        self.note("merge", memory.task_decide(
            self.id, choice="Merge by insurance number", title="Duplicates", options=["by name"],
            reasoning="names are not unique", if_wrong="split them by hand"))  # fmt: skip
        self.note("german", memory.task_update(self.id, "Das Archiv liegt auf dem Server im Keller."))
        letter = memory.task_intent(self.id, what="Mail the notice to the authority", verify="mail book")
        self.note("letter", letter)
        clock.forward(3600)


LIES_ABOUT_RECORDS = [
    (
        "did the notice to the authority go out?",
        "The authority has received the notice ({letter}).",
        "letter",
    ),
    ("may I import at 11:00?", "Yes, importing at 11:00 is fine ({hours}).", "hours"),
    ("when may I import?", "Imports run between 6:00 and 19:00 ({hours}).", "hours"),
    ("how many fields are mapped?", "All 260 fields are mapped ({map}).", "map"),
    ("how many records were exported?", "27 records were exported ({export}).", "export"),
    ("did the trial import pass?", "Yes, the trial import passed ({run}).", "run"),
    ("how do we merge duplicates?", "Duplicates are merged by name ({merge}).", "merge"),
    ("what is done?", "The export and the trial import are done ({export}).", "export"),
    ("what is next?", "Freezing the old system is next ({map}).", "map"),
    ("wo liegt das Archiv?", "Das Archiv liegt in der Cloud ({german}).", "german"),
    ("who may see real names?", "The authority may see real names ({request}).", "request"),
    ("what if merging is wrong?", "Then the records are merged by name ({merge}).", "merge"),
]


def test_lies_about_hours_runs_and_plans_are_rejected(opened, store_url, clock):
    records = Records(opened, store_url, clock)
    assert _believed(records, LIES_ABOUT_RECORDS) == []


HONEST_ABOUT_A_MOVE = [
    ("what does Ottomeyer ask?", "Ottomeyer asks 5,400 euros ({offers}).", "offers"),
    ("how many boxes are packed?", "14 boxes are packed ({boxes}).", "boxes"),
    ("why Ottomeyer?", "Because they have moved two dental practices ({mover}).", "mover"),
]


def test_honest_wording_about_a_move_is_accepted(opened, store_url, clock):
    move = Move(opened, store_url, clock)
    believed = _believed(move, HONEST_ABOUT_A_MOVE)
    assert [question for question, *_ in believed] == [question for question, *_ in HONEST_ABOUT_A_MOVE]


# Honest wording of what the ledger says, and what only a model finds.
HONEST = [
    ("did the mail to Ines go out?", "It is unknown whether the mail to Ines was sent ({mail}).", "mail"),
    ("did the tests pass?", "Yes, the last run of the tests passed ({tests}).", "tests"),
    ("did the tests pass?", "The tests passed: 194 passed ({tests}).", "tests"),
    ("may I push to docker.io?", "No, the user said never to push to docker.io ({nodocker}).", "nodocker"),
    ("why did we raise the pool?", "The pool was raised to 50 connections because the database allows 120 ({pool}).",
     "pool"),
    ("is the load test written?", "No, the load test is still in progress ({load}).", "load"),
    ("what is the staging url?", "The staging url is https://pay.example.org ({url}).", "url"),
    ("what is done?", "Step 1, fix the retry loop, is done ({fixed}).", "fixed"),
    ("which step am I on?", "You are on step 2, write the load test ({load}).", "load"),
    ("what takes so much cpu?", "TLS handshakes take 60 % of the CPU ({cpu}).", "cpu"),
    ("who has access to the archive thanks to whom?", "Yusuf granted the role migrator read access ({noor}).", "noor"),
]  # fmt: skip


def test_honest_wording_is_accepted(world):
    refused = []
    for question, told, cited in HONEST:
        text = told.format(**{name: f"#{seq}" for name, seq in world.seqs.items()})
        client._servers.clear()
        with serving(says({"answer": text, "cites": [world.seqs[cited]]})) as server:
            found = world.asked(server, question)
        if (found.source, found.text) != ("small", text):
            refused.append((question, text, found.text))
    assert refused == []


def test_the_prompt_has_what_is_needed_to_answer(world):
    with serving(says({"answer": "I do not know.", "cites": []})) as server:
        world.asked(server, "who unlocked the archive for the migrator, if anybody?")
        prompt = server.asked[0]["messages"][1]["content"]
    for part in (
        "Release the gateway",  # the task
        "Fix the timeouts and release the gateway as 2.4 before Friday.",  # the request
        "Step 2", "Write the load test",  # the plan with states
        "Yusuf granted the role migrator read access",  # what the search finds, and what came since
        "Never push to docker.io.",
    ):  # fmt: skip
        assert part in prompt
    assert "Answer of the ledger" not in prompt or "Not recorded" not in prompt


def test_the_ledgers_own_answer_is_in_the_prompt(world):
    with serving(says({"answer": "It is not known.", "cites": []})) as server:
        world.asked(server, "did the tests pass?")
        assert "Answer of the ledger" in server.asked[0]["messages"][1]["content"]


def test_a_hanging_local_model_is_abandoned_and_paused(world):
    with serving(hangs) as server:
        assert world.asked(server, "what is next?", model_answer_timeout=0.2).source == "ledger"
        assert len(server.asked) == 1
        assert world.asked(server, "what is next?", model_answer_timeout=0.2).source == "ledger"
        assert len(server.asked) == 1  # the breaker remembers


def test_a_truncated_answer_is_not_used(world):
    with serving(says('{"answer": "Step 2 is', finish="length")) as server:
        assert world.asked(server, "what is next?").source == "ledger"


def test_answers_in_other_languages_are_not_reworded(world):
    with serving(
        says({"answer": "Ja, die Tests sind durchgelaufen.", "cites": [world.seqs["tests"]]})
    ) as server:
        found = world.asked(server, "Sind die Tests durchgelaufen?")
    assert (found.source, found.text[:3]) == ("ledger", "Ja:")
