"""Several requests in one session, then a compaction: what the agent reads, through the real hook."""

from __future__ import annotations

import pytest

from tests.hosts.hosting import Host

INVOICES = "Make the invoices round to whole cents. Do not touch the tax tables."
SIGNUP = (
    "Users in Japan report that the signup page times out after they have typed their address. Find out why"
    " the confirmation mail is slow and make it asynchronous, with a retry when the mail server is away."
)
NOTES = "Unrelated: write the release notes for version 3.0."


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


class Session:
    """One session that is worked on turn by turn."""

    def __init__(self, host: Host) -> None:
        self.host, self.calls = host, 0

    def turn(self, prompt: str, calls: list[tuple[str, str]], said: str = "") -> None:
        """A prompt, calls of tools by file or command, and what the agent says at the end; "": no end."""
        self.host.tell("UserPromptSubmit", prompt=prompt)
        self.work(calls, said)

    def work(self, calls: list[tuple[str, str]], said: str) -> None:
        for tool, about in calls:
            self.calls += 1
            given = {"command": about} if tool == "Bash" else {"file_path": str(self.host.work / about)}
            self.host.tool(tool, given, {"stdout": "", "stderr": ""}, self.calls)
        if said:
            self.host.tell("Stop", last_assistant_message=said)

    def packet(self) -> str:
        self.host.tell("PreCompact", trigger="auto", custom_instructions="")
        return self.host.context("SessionStart", source="compact")

    def requests(self) -> list[tuple[str, str]]:
        with self.host.memory() as memory:
            return [(one.text, one.status) for one in memory.task_get().requests]

    def round_invoices(self) -> None:
        edited = [("Edit", "billing/invoice.py"), ("Bash", "pytest")]
        said = "Done. The invoices round to whole cents, and all tests pass."
        self.turn(INVOICES, [("Read", "billing/invoice.py"), *edited], said)
        said = "Done. Negative amounts of an invoice are rounded to cents as well."
        self.turn("negative amounts too please", edited, said)


LOOKED = [("Grep", "accounts/signup.py"), ("Read", "accounts/signup.py"), ("Read", "mail/queue.py")]
LOOKED += [("Bash", "ls mail"), ("Read", "mail/smtp.py"), ("Edit", "mail/queue.py")]
MENDED = (
    "I found it: the signup page sends the confirmation mail before it answers, and the mail server in Japan"
    " is slow. It is now queued and retried."
)


def test_the_packet_leads_with_the_last_of_three_requests_and_has_a_line_for_each_other_one(host):
    session = Session(host)
    session.round_invoices()
    session.turn(SIGNUP, LOOKED, MENDED)
    session.turn(NOTES, [("Bash", "git log --oneline")])
    packet = session.packet()
    assert [text for text, _ in session.requests()] == [INVOICES, SIGNUP, NOTES]
    assert session.requests()[0][1] == "finished"
    assert packet.index(f"| {NOTES}") < packet.index("Japan") < packet.index("Make the invoices round")
    line = next(line for line in packet.splitlines() if "Make the invoices round" in line)
    assert line.startswith("Finished before")
    assert "Do not touch the tax tables" in packet  # what the user forbade holds for the whole session


def test_a_prompt_in_plain_words_turns_out_to_be_a_request_when_the_agent_has_worked_on_it(host):
    session = Session(host)
    session.round_invoices()
    session.host.tell("UserPromptSubmit", prompt=SIGNUP)
    assert session.requests() == [(INVOICES, "current")]
    session.work(LOOKED, MENDED)
    assert session.requests() == [(INVOICES, "finished"), (SIGNUP, "current")]


def test_the_user_can_take_the_verdict_back_and_it_stays_so(host):
    session = Session(host)
    session.round_invoices()
    session.turn(SIGNUP, LOOKED, MENDED)
    with host.memory() as memory:
        task = memory.task_get()
        memory.acting_as(channel="user").task_undo(task.id, task.requests[-1].seq)
    session.turn("and log the retries", [("Edit", "mail/queue.py")], "Retries of the mail queue are logged.")
    assert session.requests() == [(INVOICES, "current")]


def test_a_request_that_is_not_recognised_is_in_the_packet_word_for_word(host):
    session = Session(host)
    session.round_invoices()
    session.turn("the logo is blurry on phones", [("Read", "site/header.html")])
    packet = session.packet()
    assert session.requests() == [(INVOICES, "current")]
    assert "the logo is blurry on phones" in packet


def test_a_remark_that_is_taken_for_a_request_leaves_the_real_one_open_in_the_packet(host):
    session = Session(host)
    session.turn(INVOICES, [("Read", "billing/invoice.py"), ("Edit", "billing/invoice.py")],
                 "The totals round now. The discounts are left.")  # fmt: skip
    session.turn("Different question: which rounding do banks use?", [])
    packet = session.packet()
    assert session.requests()[0] == (INVOICES, "open")
    line = next(line for line in packet.splitlines() if "Make the invoices round" in line)
    assert line.startswith("Also open")
    assert "billing/invoice.py" in packet
