# ruff: noqa: E501 - texts
"""The ledgers that `questions.py` asks about: stories of our own, and recorded sessions of the kit.

A story is written through the public operations, with a clock. Each event that a question may be about has a
handle, by which `labels/questions.txt` names the evidence. Most states of steps are set explicitly, so that
the labels do not depend on what is inferred from messages.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).parent))

from question_ledgers_fresh import breach, conference, orchard, practice
from question_ledgers_trades import clinic, firmware, taxes

from ringbolt import TaskMemory

HERE = Path(__file__).parent
TRACES = HERE.parent.parent / "shared" / "data" / "traces"


class Ledger:
    """A task in a store, its handles, and the clock of whoever asks."""

    def __init__(self, folder: Path, zone: str) -> None:
        self.zone = ZoneInfo(zone)
        self.now = 0.0
        self.memory = TaskMemory.open(
            folder / "store.db", workspace="/srv/project", session="bench", clock=lambda: self.now,
            synchronous="off", reserve_bytes=0, time_zone=zone,
        )  # fmt: skip
        self.task = ""
        self.handles: dict[str, set[int]] = {}

    def at(self, when: str) -> None:
        """Set the clock, `2026-03-02 08:10`, in the zone of the ledger."""
        self.now = datetime.fromisoformat(when).replace(tzinfo=self.zone).timestamp()

    def begin(self, handle: str, name: str, plan: list[str], **fields: Any) -> None:
        made = self.memory.acting_as(channel="user").task_register(name, plan, **fields)
        self.task = made.task_id
        self.handles[handle] = {made.seq}

    def __call__(self, handle: str, operation: str, *values: Any, by: str = "agent", agent: str | None = None,
                 **fields: Any) -> int:  # fmt: skip
        """Call an operation on the task; `by` is the channel, and the clock moves a minute on."""
        self.now += 60
        if operation == "plan_replace":
            by = "user"  # who made the plan may drop steps of it
        method = getattr(self.memory.acting_as(channel=by, agent=agent), f"task_{operation}")
        made = method(self.task, *values, **fields)
        if handle:
            self.handles.setdefault(handle, set()).add(made.seq)
        return made.seq

    def seq_of(self, handle: str) -> int:
        return max(self.handles[handle])

    def says(self, handle: str, text: str) -> int:
        """A message of the user, who gives an instruction."""
        return self(handle, "remember", text, type="user_instruction", by="user")

    def runs(self, handle: str, summary: str, command: str, output: str, *, ok: bool = True,
             seconds: float = 4.0, item: int | None = None) -> int:  # fmt: skip
        """A command that was run, with its output."""
        return self(
            handle, "log_action", summary, by="tool", type="cli", tool="Bash", input={"command": command},
            output=output, status="completed" if ok else "failed", duration_ms=1000 * seconds, item=item,
            error=None if ok else output.splitlines()[-1],
        )  # fmt: skip


def gateway(tell: Ledger) -> None:
    """Software: a release with a replan, failing tests, and a mail whose outcome is unknown."""
    tell.at("2026-03-02 08:40")
    tell.begin(
        "request", "Release payment gateway 2.4",
        ["Reproduce the timeout", "Fix the retry loop", "Add a circuit breaker", "Write the load test",
         "Rewrite the admin page", "Update the changelog", "Tag and publish the release"],
        request="Please fix the timeouts of the payment gateway and release it as 2.4 before Friday. "
        "Keep the old gateway running until Ines has signed off.",
        goal="No payment request waits longer than 800 ms",
        acceptance=["the load test holds 500 requests per second"],
    )  # fmt: skip
    tell("start1", "update", "Looking for the slow path", step=1, step_status="active")
    tell.at("2026-03-02 09:50")
    tell("repro", "update", "Reproduced: the timeout appears after 37 parallel payments", step=1,
         step_status="completed")  # fmt: skip
    tell("cause", "remember", "The connection pool has only 10 connections; payment 11 waits for 30 s",
         type="discovery", tags=["pool"])  # fmt: skip
    tell.at("2026-03-02 10:20")
    tell("pool", "decide", choice="Raise the pool to 50 connections", title="Size of the connection pool",
         options=["25", "100"], reasoning="the database allows 120 in all, and two gateways share it",
         risks=["the reporting job may run out of connections"],
         if_wrong="set POOL_SIZE back to 10 and restart")  # fmt: skip
    tell("poolsize", "set", "POOL_SIZE", 50)
    tell("fix2", "update", "Working on the retry loop", step=2, step_status="active")
    tell("edit1", "log_action", "Edit src/retry.py", files=["/srv/project/src/retry.py"])
    tell.at("2026-03-02 11:05")
    tell.runs("test1", "Run the tests", "pytest -q tests", "2 failed, 188 passed in 41.20s", ok=False,
              seconds=41)  # fmt: skip
    tell("err1", "remember", "test_retry_backoff fails: expected 3 attempts, got 4", type="error")
    tell.at("2026-03-02 13:30")
    tell.says("nodocker", "Don't push anything to docker.io, we only publish to ghcr.io.")
    tell.says("noprod", "Never run the load test against production. Staging is fine.")
    tell.at("2026-03-02 14:15")
    tell.runs("test2", "Run the tests", "pytest -q tests", "190 passed in 39.77s", seconds=40)
    tell("fixed2", "update", "Retry loop fixed, three attempts with jitter", step=2, step_status="completed")
    tell("commit1", "log_action", "Commit", tool="Bash", type="cli", by="tool",
         input={"command": 'git commit -m "Retry at most three times, with jitter"'},
         output="[fix/timeouts 4be19d2] Retry at most three times, with jitter\n 1 file changed")  # fmt: skip
    tell.at("2026-03-03 08:30")
    tell("breaker3", "update", "Starting with the breaker", step=3, step_status="active")
    tell("nolib", "exclude", what="pybreaker", why="it does not support asyncio", symptom="RuntimeError: no "
         "running event loop")  # fmt: skip
    tell("breakerdec", "decide", choice="Write our own breaker in 60 lines", title="Circuit breaker",
         options=["pybreaker", "aiobreaker"], reasoning="both libraries lack half-open probes",
         risks=["we maintain it ourselves"])  # fmt: skip
    tell.at("2026-03-03 11:40")
    tell("breakerdone", "update", "Breaker opens after 5 failures and probes every 20 s", step=3,
         step_status="completed")  # fmt: skip
    tell.at("2026-03-03 13:10")
    tell.says("noadmin", "Leave the admin page out, Tomás will do that in April.")
    tell("replan", "plan_replace",
         ["Reproduce the timeout", "Fix the retry loop", "Add a circuit breaker", "Write the load test",
          "Update the changelog", "Get the sign-off from Ines", "Tag and publish the release"],
         reason="The admin page moves to April, and Ines has to sign off first")  # fmt: skip
    tell("load4", "update", "Writing the load test with locust", step=4, step_status="active")
    tell.at("2026-03-03 15:00")
    tell("german", "update", "Der Lasttest hält 430 Anfragen pro Sekunde, das Ziel sind 500.")
    tell("loadissue", "item_update", "4", active_issue="430 requests per second instead of 500")
    tell("cpu", "remember", "TLS handshakes take 60 % of the CPU during the load test", type="discovery")
    tell("url", "set", "STAGING_URL", "https://pay-staging.example.org")
    tell.at("2026-03-04 09:15")
    tell("chinese", "update", "已经打开会话复用,现在每秒 540 个请求。")
    tell.runs("loadrun", "Run the load test", "locust -H https://pay-staging.example.org --headless",
              "540 requests/s, 0 failures, p95 212 ms", seconds=300)  # fmt: skip
    tell("loaddone", "item_update", "4", status="completed", active_issue="")
    tell("keepalive", "decide", choice="Reuse TLS sessions", title="TLS", reasoning="handshakes took 60 % of "
         "the CPU")  # fmt: skip
    tell.at("2026-03-04 10:30")
    tell("changelog", "log_action", "Edit CHANGELOG.md", files=["/srv/project/CHANGELOG.md"])
    tell("changelogdone", "update", "Changelog has the entry for 2.4", step=5, step_status="completed")
    tell.runs("test3", "Run the tests", "pytest -q tests", "194 passed in 40.02s", seconds=40)
    tell("commit2", "log_action", "Commit", tool="Bash", type="cli", by="tool",
         input={"command": 'git commit -m "Changelog for 2.4"'},
         output="[fix/timeouts 77aa0c1] Changelog for 2.4\n 1 file changed")  # fmt: skip
    push = tell("push", "intent", what="Push branch fix/timeouts to origin", verify="git ls-remote origin")
    tell("pushed", "outcome", intent=push, outcome="did", note="origin has 77aa0c1")
    tell("mail", "intent", what="Send the mail with the report to Ines", verify="look into the outbox")
    tell.at("2026-03-04 13:20")
    tell("wait6", "update", "Ines is travelling and answers tomorrow", step=6, step_status="active",
         blockers=["Ines has not signed off yet"], next="Ask Ines again on Thursday at 9:00")  # fmt: skip
    tell("question", "remember", "Should 2.4 also go to the Brazilian region?", type="question")
    tell.at("2026-03-04 16:20")


def buckets(tell: Ledger) -> None:
    """A data migration: objects are copied to another store, with quantities, limits and waits."""
    tell.at("2026-04-13 07:55")
    tell.begin(
        "request", "Move the image archive to the new object store",
        ["Count the objects", "Create the bucket archive-eu", "Copy the thumbnails", "Copy the originals",
         "Compare the checksums", "Switch the readers", "Delete the old bucket"],
        request="Move our image archive (bucket img-legacy) to the new store in Frankfurt. It may use 2 TB at "
        "most, and the copy must not run between 18:00 and 20:00.",
    )  # fmt: skip
    tell("s1", "update", step=1, step_status="active")
    tell.runs("count", "Count the objects", "mc ls --recursive img-legacy | wc -l", "1482300", seconds=610)
    tell("counted", "update", "img-legacy holds 1,482,300 objects, 1.31 TB", step=1, step_status="completed")
    tell.says("nodelete", "Please do not delete the old bucket before Noor from compliance agrees.")
    tell("bucket", "update", "Bucket archive-eu created with versioning", step=2, step_status="completed")
    tell("region", "decide", choice="eu-central-1", title="Region", options=["eu-west-1"],
         reasoning="the contract demands storage in Germany", risks=["8 % dearer than Ireland"],
         if_wrong="replicate to eu-west-1, which takes about two days")  # fmt: skip
    tell("endpoint", "set", "ENDPOINT", "https://s3.eu-central-1.example.com")
    tell.at("2026-04-13 09:30")
    tell("thumbs", "update", "Copying the thumbnails", step=3, step_status="active")
    tell("rclone", "exclude", what="rclone sync with 64 transfers", why="the old store throttles above 20 "
         "transfers", symptom="503 Slow Down")  # fmt: skip
    tell("tool", "decide", choice="mc mirror with 16 workers", title="Copy tool", options=["rclone", "s5cmd"],
         reasoning="it resumes after an interruption", risks="it cannot preserve modification times",
         if_wrong="use s5cmd and lose resuming")  # fmt: skip
    tell.at("2026-04-13 12:10")
    tell("thumbsdone", "update", "All 990,000 thumbnails are copied", step=3, step_status="completed")
    tell.at("2026-04-13 12:45")
    tell("orig", "update", "Copying the originals", step=4, step_status="active")
    tell.at("2026-04-13 16:40")
    tell.runs("copyfail", "Copy the originals", "mc mirror img-legacy archive-eu",
              "mc: <ERROR> Failed to copy `2019/07/IMG_8841.tif`. Access Denied.", ok=False, seconds=9000)  # fmt: skip
    tell("denied", "remember", "Access denied for 2019/07: the role lacks s3:GetObjectVersion", type="error")
    tell("blocked", "update", "Asked the platform team for the permission",
         blockers=["the role migrator lacks s3:GetObjectVersion"])  # fmt: skip
    tell.at("2026-04-14 08:20")
    tell("granted", "remember", "Yusuf granted s3:GetObjectVersion to the role migrator", type="discovery")
    tell("freed", "update", "Permission is there, copying again", blockers=[])
    tell.at("2026-04-14 11:30")
    tell("progress", "update", "412,000 of 492,300 originals copied, 1.1 TB used so far")
    tell.says("noor", "Noor Haddad signs off the deletion, and Yusuf Demir owns the readers.")
    tell("deutsch", "update", "Die Prüfsummen liegen in der Tabelle audit.checksums, nicht im Bucket.")
    tell.at("2026-04-14 14:00")
    tell("replan", "plan_replace",
         ["Count the objects", "Create the bucket archive-eu", "Copy the thumbnails", "Copy the originals",
          "Compare the checksums", "Switch the readers to read-through", "Freeze the old bucket"],
         reason="Compliance wants the old bucket frozen for 90 days instead of deleted")  # fmt: skip
    tell.at("2026-04-14 15:20")
    tell("origdone", "update", "All 492,300 originals copied", step=4, step_status="completed")
    tell.runs("sum1", "Compare the checksums", "python compare.py --all", "7 of 1482300 differ", ok=False,
              seconds=1800)  # fmt: skip
    tell("differ", "remember", "Seven TIFF files differ because they were rewritten during the copy",
         type="discovery")  # fmt: skip
    tell.at("2026-04-14 17:10")
    tell.runs("sum2", "Compare the checksums", "python compare.py --all", "1482300 identical", seconds=1750)
    tell("sumdone", "update", "Checksums agree", step=5, step_status="completed")
    tell("zh", "update", "读取服务由优素福切换,计划在星期四早上。")
    tell("switch", "update", "Preparing the switch of the readers", step=6, step_status="active",
         next="Put read-through behind the flag ARCHIVE_READ_EU")  # fmt: skip
    tell("flag", "set", "ARCHIVE_READ_EU", False)
    tell("tools", "log_action", "Write compare.py", files=[{"path": "/srv/project/compare.py",
         "change": "created"}, {"path": "/srv/project/readers/config.toml", "change": "modified"}])  # fmt: skip
    tell("ticket", "intent", what="Open the change ticket OPS-991 for Thursday", verify="search OPS-991")
    tell("notice", "intent", what="Post the maintenance notice in #status", verify="look into #status")
    tell("noticed", "outcome", intent=tell.seq_of("notice"), outcome="did", note="posted 17:31")
    tell("q", "remember", "Who pays for the second copy during the 90 days?", type="question")
    tell.at("2026-04-15 08:05")


def survey(tell: Ledger) -> None:
    """Research: a survey with interviews, a dropped step, ethics rules and statistics."""
    tell.at("2026-05-04 09:00")
    tell.begin(
        "request", "Study on remote onboarding",
        ["Draft the questionnaire", "Get the approval of the ethics board", "Recruit participants",
         "Run the pilot", "Interview the managers", "Collect the responses", "Analyse the data",
         "Write the report"],
        request="Find out what makes onboarding of remote staff slow. I need a report of ten pages by the end "
        "of June. The budget for vouchers is 1,500 euros.",
        goal="Three recommendations with evidence",
    )  # fmt: skip
    tell("draft", "update", "Questionnaire drafted, 24 items", step=1, step_status="completed")
    tell("scale", "decide", choice="Seven-point Likert scale", title="Answer scale",
         options=["five-point", "slider"], reasoning="earlier studies of the field use it, so we can compare",
         risks=["takes longer on phones"], if_wrong="collapse it to five points in the analysis")  # fmt: skip
    tell.says("names", "Do not store names or e-mail addresses together with the answers.")
    tell.says("vouchers", "Vouchers are allowed, up to 15 euros for each person.")
    tell("ethics", "update", "Submitted to the ethics board", step=2, step_status="active",
         blockers=["the ethics board meets only on 12 May"])  # fmt: skip
    tell.at("2026-05-12 16:00")
    tell("approved", "update", "Approved by the ethics board, reference EB-2026-118", step=2,
         step_status="completed", blockers=[])  # fmt: skip
    tell("ref", "set", "ETHICS_REF", "EB-2026-118")
    tell.at("2026-05-13 10:15")
    tell("recruit", "update", "Recruiting through three newsletters", step=3, step_status="active")
    tell("linkedin", "exclude", what="Paid ads on LinkedIn", why="120 euros for two sign-ups")
    tell.at("2026-05-18 11:00")
    tell("recruited", "update", "86 people have signed up, 61 of them moved country", step=3,
         step_status="completed")  # fmt: skip
    tell("pilot", "update", "Pilot with 6 people: item 17 was misread by four of them", step=4,
         step_status="completed")  # fmt: skip
    tell("item17", "decide", choice="Split item 17 into two questions", title="Item 17",
         reasoning="four of six read it as a question about salary")  # fmt: skip
    tell("replan", "plan_replace",
         ["Draft the questionnaire", "Get the approval of the ethics board", "Recruit participants",
          "Run the pilot", "Collect the responses", "Analyse the data", "Review by Professor Okafor",
          "Write the report"],
         reason="The managers have no time before July, so the interviews are dropped; Okafor reviews the "
         "statistics instead")  # fmt: skip
    tell.at("2026-05-19 14:30")
    tell("german", "update", "Die Umfrage läuft seit heute Mittag, Erinnerung geht am Freitag raus.")
    tell("collect", "update", "Survey is open", step=5, step_status="active")
    tell("reminder", "intent", what="Send the reminder to all participants", verify="mailing log")
    tell("reminded", "outcome", intent=tell.seq_of("reminder"), outcome="did", note="83 delivered, 3 bounced")
    tell.at("2026-05-26 09:40")
    tell("responses", "update", "74 responses, 71 usable", step=5, step_status="completed")
    tell("tool", "decide", choice="Analyse with R", title="Statistics software", options=["SPSS", "Python"],
         reasoning="Okafor can check the scripts", by="user")  # fmt: skip
    tell("analyse", "update", "Fitting the mixed model", step=6, step_status="active")
    tell.runs("fit1", "Fit the model", "Rscript model.R", "Error: model failed to converge", ok=False,
              seconds=95)  # fmt: skip
    tell.at("2026-05-26 13:20")
    tell.runs("fit2", "Fit the model", "Rscript model.R", "converged, AIC 812.4", seconds=130)
    tell("result", "remember", "People with a buddy were productive 11 days earlier (p = 0.004)",
         type="discovery")  # fmt: skip
    tell("nobuddy", "remember", "Size of the company has no measurable influence", type="discovery")
    tell("files", "log_action", "Save the scripts", files=[{"path": "/srv/project/model.R", "change":
         "created"}, {"path": "/srv/project/figures/fig2.png", "change": "created"}])  # fmt: skip
    tell("zh", "update", "初步结果已经发给奥卡福教授。")
    tell("analysed", "update", "Analysis finished", step=6, step_status="completed")
    tell.at("2026-05-27 08:50")
    tell("review", "update", "Okafor wants a power analysis", step=7, step_status="active",
         next="Compute the power for the buddy effect", blockers=["Okafor is at a conference until 1 June"])  # fmt: skip
    tell("payment", "intent", what="Order 71 vouchers", verify="order history of the shop")
    tell("open", "remember", "May we publish the anonymised data?", type="question")
    tell.at("2026-05-27 15:10")


def offsite(tell: Ledger) -> None:
    """Travel and operations: a team meeting with bookings, people and money."""
    tell.at("2026-09-07 09:10")
    tell.begin(
        "request", "Team meeting in Porto",
        ["Collect dietary needs", "Book the hotel", "Buy the train tickets", "Reserve the boat trip",
         "Print the badges", "Send the programme", "Pay the invoices"],
        request="Organise our team meeting in Porto for 14 people, 5 to 8 October. Spend 9,000 euros at most. "
        "No flights inside Spain or Portugal, take the train.",
    )  # fmt: skip
    tell("diet", "update", "Everybody answered: 3 vegetarians, 1 nut allergy (Jonas)", step=1,
         step_status="completed")  # fmt: skip
    tell("hotelbusy", "update", "Comparing hotels", step=2, step_status="active")
    tell("ribeira", "exclude", what="Hotel Ribeira Palace", why="only 9 rooms free in that week")
    tell("hotel", "decide", choice="Casa do Rio", title="Hotel", options=["Hotel Ribeira Palace", "Vila Galé"],
         reasoning="14 single rooms and a meeting room with daylight", risks=["ten minutes from the metro"],
         if_wrong="Vila Galé holds 14 rooms for us until 20 September")  # fmt: skip
    tell("booked", "update", "Casa do Rio booked, confirmation CR-58213, 4,480 euros", step=2,
         step_status="completed")  # fmt: skip
    tell("conf", "set", "HOTEL_CONFIRMATION", "CR-58213")
    tell.says("card", "You may pay with the company card up to 5,000 euros; ask Birgit above that.")
    tell.says("alcohol", "Do not order alcohol on the company's account.")
    tell.at("2026-09-08 10:00")
    tell("train", "update", "Looking for trains", step=3, step_status="active")
    tell("trainfail", "remember", "The CP website rejects the company card: error 3DS-17", type="error")
    tell("trainblock", "update", "Birgit has to unlock the card", blockers=["card is locked for cp.pt"])
    tell.at("2026-09-08 15:45")
    tell("unlock", "update", "Birgit unlocked the card", blockers=[])
    tell("tickets", "update", "14 train tickets Lisbon to Porto bought, AP 133, 623 euros", step=3,
         step_status="completed")  # fmt: skip
    tell.at("2026-09-09 09:20")
    tell("weather", "remember", "The boat company cancels above 30 knots of wind and refunds everything",
         type="discovery")  # fmt: skip
    tell("replan", "plan_replace",
         ["Collect dietary needs", "Book the hotel", "Buy the train tickets", "Book the cooking class",
          "Send the programme", "Pay the invoices"],
         reason="October is too windy for the boat; badges are not needed for 14 people")  # fmt: skip
    tell.says("cooking", "Nimm lieber den Kochkurs, das Boot ist mir zu unsicher.")
    tell("class", "update", "Asking for the cooking class on 6 October", step=4, step_status="active")
    tell.runs("export", "Export the participants", "python export.py --format csv", "14 rows written to "
              "people.csv", seconds=2)  # fmt: skip
    tell("exported", "log_action", "Save people.csv", files=[{"path": "/srv/project/people.csv",
         "change": "created"}])  # fmt: skip
    tell.at("2026-09-09 14:10")
    tell("classbooked", "update", "Cooking class booked for 6 October, 16:00, 45 euros each", step=4,
         step_status="completed")  # fmt: skip
    tell("teacher", "remember", "The teacher is Catarina Lopes, phone +351 912 000 418", type="context")
    tell("zh", "update", "节目单草稿已经写好,等布里吉特确认。")
    tell("programme", "update", "Programme drafted, Birgit reviews it", step=5, step_status="active",
         next="Send the programme to everybody on Friday",
         blockers=["Birgit has not confirmed the programme"])  # fmt: skip
    tell(
        "deposit", "intent", what="Transfer the deposit of 500 euros to Casa do Rio", verify="bank statement"
    )
    tell("deposited", "outcome", intent=tell.seq_of("deposit"), outcome="did", note="value date 10 September")
    tell("invite", "intent", what="Send the calendar invitations", verify="calendar")
    tell("nosign", "remember", "Should partners come along on the last evening?", type="question")
    tell.at("2026-09-10 11:30")


def kitchen(tell: Ledger) -> None:
    """Building and writing at once: craftsmen, deliveries, money, and a training run of a model."""
    tell.at("2026-06-01 08:00")
    tell.begin(
        "request", "Renovate the office kitchen",
        ["Measure the room", "Choose the cabinets", "Order the oven", "Lay the cables", "Paint the walls",
         "Install the sink", "Inspection by the landlord"],
        request="Renovate the kitchen on the second floor. It has to be usable again on 19 June. The landlord must "
        "approve every hole in the load-bearing wall. We can spend 14,000 euros.",
        goal="Twelve people can cook at the same time",
    )  # fmt: skip
    tell("measured", "update", "The room is 6.2 m long and 3.4 m wide", step=1, step_status="completed")
    tell("damp", "remember", "The north wall is damp up to a height of 40 cm", type="discovery")
    tell("cabinets", "decide", choice="Birch plywood cabinets from Holm", title="Cabinets",
         options=["steel", "MDF"], reasoning="they can be repaired, and Holm delivers within a week",
         risks=["birch stains if water stays on it", "Holm is a one-man shop"],
         if_wrong="put steel fronts on the same bodies")  # fmt: skip
    tell("chosen", "update", "Cabinets chosen: 9 base units and 5 wall units, 5,380 euros", step=2,
         step_status="completed")  # fmt: skip
    tell.at("2026-06-02 09:30")
    tell.says("nogas", "No gas, please. Induction only.")
    tell.says("quiet", "Drilling is only allowed before 10 in the morning.")
    tell.says("invoice", "Send every invoice to Farah before you pay it.")
    tell("ovenorder", "update", "Oven ordered from Küppersbusch, delivery on 11 June", step=3,
         step_status="completed")  # fmt: skip
    tell("ovenprice", "set", "oven_price", 1890)
    tell("cable", "update", "Electrician starts", step=4, step_status="active")
    tell("fuse", "remember", "The fuse box has only two free slots, we need three", type="error")
    tell("fuseblock", "update", "Need a bigger fuse box", blockers=["the fuse box is too small"])
    tell.at("2026-06-03 14:20")
    tell("fusefix", "update", "Mr Adeyemi installed a second fuse box", blockers=[])
    tell("cabled", "update", "Cables are in, tested with 400 V", step=4, step_status="completed")
    tell("limewash", "exclude", what="Lime wash on the north wall", why="it does not stick to damp plaster")
    tell("paintstart", "update", "Painting, two coats", step=5, step_status="active")
    tell.at("2026-06-04 10:05")
    tell.runs("train1", "Train the stock forecast", "python train.py --epochs 30", "epoch 30 loss 0.412\nCUDA out of "
              "memory", ok=False, seconds=5400)  # fmt: skip
    tell.runs("train2", "Train the stock forecast", "python train.py --epochs 30 --batch 16", "epoch 30 loss 0.297\n"
              "saved model-v3.pt", seconds=7200)  # fmt: skip
    tell("modelfile", "log_action", "Write the report of the forecast", files=[{"path": "/srv/project/forecast.md",
         "change": "created"}, {"path": "/srv/project/train.py", "change": "modified"}])  # fmt: skip
    tell("replan", "plan_replace",
         ["Measure the room", "Choose the cabinets", "Order the oven", "Lay the cables", "Seal the north wall",
          "Paint the walls", "Install the sink"],
         reason="The damp wall must be sealed first; the landlord inspects together with the fire brigade in July")  # fmt: skip
    tell("seal", "update", "Sealing slurry is drying until Saturday", step=5, step_status="active",
         next="Paint the east wall meanwhile")  # fmt: skip
    tell(
        "keys", "remember", "The keys of the storeroom are with the caretaker, Mrs Lindqvist", type="context"
    )
    tell("es", "update", "El fontanero viene el lunes a las 8:00.")
    tell("deposit", "intent", what="Pay the deposit of 800 euros to Holm", verify="bank statement")
    tell("paid", "outcome", intent=tell.seq_of("deposit"), outcome="did", note="booked on 4 June")
    tell("permit", "intent", what="Submit the permit for the wall to the landlord", verify="ask the landlord")
    tell("rejectred", "exclude", what="Red fronts", why="too loud for the open space", by="user")
    tell("ask", "remember", "Do we need a second dishwasher?", type="question")
    tell.at("2026-06-05 16:45")


def incident(tell: Ledger) -> None:
    """Operations and writing: an outage of a web shop, its repair, and the report to the customers."""
    tell.at("2026-11-09 06:50")
    tell.begin(
        "request", "Outage of the web shop",
        ["Find the cause of the outage", "Restore the orders", "Rotate the API keys", "Compensate the customers",
         "Write the post-mortem", "Close the incident"],
        request="The shop is down since 06:20. Bring it back, find out why, and write a post-mortem for the board. "
        "Refunds above 200 euros need my approval. Don't contact the press.",
    )  # fmt: skip
    tell("look", "update", "Checking the load balancer and the database", step=1, step_status="active")
    tell("disk", "remember", "The disk of db-3 is full: 500 GB of WAL files since Saturday", type="discovery")
    tell("restart", "exclude", what="Restart db-3", why="it does not come up with a full disk",
         symptom="FATAL: could not write lock file: No space left on device")  # fmt: skip
    tell("slot", "update", "A forgotten replication slot kept the WAL files", step=1, step_status="completed")
    tell.at("2026-11-09 07:35")
    tell("dropslot", "decide", choice="Drop the replication slot analytics_old", title="Replication slot",
         options=["add a disk", "move the WAL"], reasoning="nobody has read from it for 40 days",
         risks=["the analytics team loses its stream"], if_wrong="create it again and reload 3 days of data")  # fmt: skip
    tell.runs("up", "Check the shop", "curl -sf https://shop.example/health", "ok 200", seconds=1)
    tell("restore", "update", "Restoring orders from the queue", step=2, step_status="active")
    tell.runs("replay1", "Replay the orders", "python replay.py --from 06:20", "1,204 of 1,380 orders replayed\nTimeout",
              ok=False, seconds=340)  # fmt: skip
    tell(
        "replayerr",
        "remember",
        "Replay stops with a timeout of the payment provider after 1,204 orders",
        type="error",
    )
    tell.at("2026-11-09 10:15")
    tell.runs(
        "replay2",
        "Replay the orders",
        "python replay.py --resume",
        "1,380 of 1,380 orders replayed",
        seconds=95,
    )
    tell("restored", "update", "All 1,380 orders are restored", step=2, step_status="completed")
    tell.says("keysrule", "Rotate the keys of the payment provider too, but not the ones of the warehouse.")
    tell.says("tone", "The post-mortem must not name individuals.")
    tell(
        "keys",
        "update",
        "Rotating keys",
        step=3,
        step_status="active",
        blockers=["Priya has to unlock the vault"],
    )
    tell.at("2026-11-10 09:05")
    tell("vault", "update", "Priya unlocked the vault", blockers=[])
    tell(
        "rotated",
        "update",
        "7 keys rotated, the warehouse keys are unchanged",
        step=3,
        step_status="completed",
    )
    tell("newkey", "set", "PAYMENT_KEY_ID", "pk_live_77")
    tell("voucher", "decide", choice="10 euro vouchers instead of refunds", title="Compensation",
         reasoning="refunds cost three times as much in fees", by="user")  # fmt: skip
    tell("comp", "update", "Preparing vouchers for 412 customers", step=4, step_status="active")
    tell("send", "intent", what="Send the voucher mail to 412 customers", verify="the mailing log")
    tell("sent", "outcome", intent=tell.seq_of("send"), outcome="did", note="409 delivered, 3 bounced")
    tell("compdone", "update", "Vouchers are out", step=4, step_status="completed")
    tell.at("2026-11-10 15:30")
    tell("replan", "plan_replace",
         ["Find the cause of the outage", "Restore the orders", "Rotate the API keys", "Compensate the customers",
          "Add an alert for WAL growth", "Write the post-mortem"],
         reason="The incident is closed by the service desk; the board asked for an alert first")  # fmt: skip
    tell("alert", "update", "Alert fires at 50 GB of WAL", step=5, step_status="completed")
    tell("pm", "update", "Writing the post-mortem", step=6, step_status="active",
         next="Send the draft to Henrik for review", blockers=["numbers of the lost revenue are missing"])  # fmt: skip
    tell("pmfile", "log_action", "Write post-mortem.md", files=[{"path": "/srv/project/post-mortem.md",
         "change": "created"}])  # fmt: skip
    tell("meeting", "remember", "The board meets on Thursday at 14:00 in room Aurora", type="context")
    tell("de", "update", "Der Umsatzausfall wird von Frau Okonkwo aus der Buchhaltung berechnet.")
    tell("zh", "update", "供应商承诺十二月前修复超时问题。")
    tell("status", "intent", what="Update the public status page", verify="open status.example")
    tell("q", "remember", "Do we report the outage to the data protection officer?", type="question")
    tell.at("2026-11-11 11:20")


def museum(tell: Ledger) -> None:
    """Culture and software: an exhibition with loans, insurance, a booking page and a catalogue."""
    tell.at("2026-05-11 09:00")
    tell.begin(
        "request", "Open the exhibition on early maps",
        ["Agree the loans with the lenders", "Insure the objects", "Build the showcases", "Print the catalogue",
         "Set up the ticket page", "Hang the maps", "Record an audio guide", "Open to the public"],
        request="We open the exhibition on early maps on 19 September. Insurance must not cost more than 14,000 euros. "
        "Always ask Dr. Falk before a loan contract is signed. Never expose the parchment to more than 50 lux.",
        goal="Forty maps on show by 19 September",
        acceptance=["every object is insured", "the ticket page takes card payments"],
    )  # fmt: skip
    tell("loans", "update", "Writing to the lenders", step=1, step_status="active")
    tell.at("2026-05-12 10:30")
    tell(
        "lisbon", "remember", "The archive in Lisbon lends six portolan charts until January", type="context"
    )
    tell("vienna", "remember", "Vienna asks for a climate log of the last twelve months", type="discovery")
    tell("refused", "exclude", what="Borrow the globe from Gotha", why="the globe is too fragile to travel",
         symptom="their conservator refused in writing")  # fmt: skip
    tell.at("2026-05-14 16:00")
    tell(
        "loansdone", "update", "All 41 loans are agreed, Dr. Falk has signed", step=1, step_status="completed"
    )
    tell("insure", "update", "Comparing offers of insurers", step=2, step_status="active")
    tell("offers", "remember", "Three offers: Axon 15,200 euros, Helvia 13,400 euros, Brandt 16,000 euros",
         type="discovery")  # fmt: skip
    tell("insurer", "decide", choice="Insure with Helvia", title="Insurer", options=["Axon", "Brandt"],
         reasoning="it is the only offer within the limit", risks=["transport by road only is covered"],
         if_wrong="Axon keeps its offer open until June")  # fmt: skip
    tell("policy", "set", "policy_number", "HV-88120")
    tell("insured", "update", "Policy is signed", step=2, step_status="completed")
    tell.at("2026-05-18 08:45")
    tell("cases", "update", "Carpenter Olsen starts with the showcases", step=3, step_status="active")
    tell.says("noglue", "No acrylic glue inside the showcases, it gives off acid.")
    tell.says("photos", "Visitors may take photos without flash.")
    tell("wood", "decide", choice="Use birch plywood for the showcases", title="Wood of the showcases",
         reasoning="oak gives off acid that eats the paper")  # fmt: skip
    tell("leak", "remember", "Showcase 4 leaks: humidity rises to 63 % within a day", type="error")
    tell.at("2026-05-20 13:00")
    tell("leakfixed", "update", "Showcase 4 has a new seal, humidity stays at 48 %")
    tell("casesdone", "update", "All 12 showcases are built", step=3, step_status="completed")
    tell.at("2026-05-21 09:20")
    tell.says("noaudio", "Forget the audio guide, we have no money for the speakers.")
    tell("replan", "plan_replace",
         ["Agree the loans with the lenders", "Insure the objects", "Build the showcases", "Print the catalogue",
          "Set up the ticket page", "Train the guards", "Hang the maps", "Open to the public"],
         reason="The audio guide is too expensive; the insurer demands trained guards")  # fmt: skip
    tell("print", "update", "Catalogue is with the printer Morandi in Bologna", step=4, step_status="active")
    tell("paper", "remember", "The catalogue has 184 pages and 1,500 copies are printed", type="context")
    tell("proof", "remember", "Ms. Adeyemi proofreads the captions until Friday", type="context")
    tell.at("2026-05-22 10:00")
    tell("page", "log_action", "Create tickets/page.py", files=[{"path": "/srv/project/tickets/page.py",
         "change": "created"}])  # fmt: skip
    tell.runs("test1", "Run the tests of the ticket page", "pytest -q tests/tickets", "1 failed, 22 passed in 3.1s",
              ok=False)  # fmt: skip
    tell("fee", "decide", choice="Take card payments with Adyen", title="Payment provider",
         reasoning="Stripe does not pay out to foundations", options=["Stripe"])  # fmt: skip
    tell.runs("test2", "Run the tests of the ticket page", "pytest -q tests/tickets", "24 passed in 3.0s")
    tell("price", "remember", "A ticket costs 11 euros, reduced 6 euros; children enter free", type="context")
    tell.at("2026-05-22 15:10")
    tell("invite", "intent", what="Send the invitation to 230 guests of the opening", verify="the outbox")
    tell("courier", "intent", what="Order the courier for the Vienna maps", verify="call Hartmann Fine Art")
    tell(
        "couriered",
        "outcome",
        intent=tell.seq_of("courier"),
        outcome="did_not",
        note="Hartmann has no van before June",
    )
    tell("de", "update", "Der Kurier aus Wien kommt erst am 9. Juni, die Kisten stehen bereit.")
    tell("fr", "update", "Les étiquettes sont traduites en français par Mme Laurent.")
    tell("zh", "update", "展厅的灯光测得 46 勒克斯。")
    tell("ticket5", "update", "Working on the ticket page", step=5, step_status="active",
         next="Connect the ticket page to Adyen", blockers=["Adyen has not approved the account"])  # fmt: skip
    tell("q", "remember", "Does the school programme start in September or October?", type="question")
    tell("guards", "remember", "Six guards are trained by Captain Ruiz on 3 September", type="context")
    tell.at("2026-05-23 09:00")


STORIES: dict[str, tuple[str, Callable[[Ledger], None]]] = {
    "gateway": ("Europe/Berlin", gateway),
    "buckets": ("Europe/Berlin", buckets),
    "kitchen": ("Europe/Paris", kitchen),
    "incident": ("Europe/London", incident),
    "museum": ("Europe/Vienna", museum),
    "survey": ("Africa/Lagos", survey),
    "offsite": ("Europe/Lisbon", offsite),
    "breach": ("Europe/Amsterdam", breach),
    "practice": ("Europe/Berlin", practice),
    "conference": ("Europe/Vienna", conference),
    "orchard": ("Europe/Prague", orchard),
    "clinic": ("Europe/Berlin", clinic),
    "firmware": ("Europe/London", firmware),
    "taxes": ("Europe/Berlin", taxes),
}


def session(folder: Path, name: str) -> tuple[Ledger, list[dict[str, Any]]]:
    """A recorded session of the kit, told as its host would, and its events; their texts stay there."""
    sys.path.insert(0, str(HERE))
    from adapter import Memory

    path = next(TRACES.glob(f"{name}*.jsonl.gz"))
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    sys.path.insert(0, str(TRACES.parents[1] / "bench"))
    import kit

    fed = Memory(folder)
    fed.feed(kit.visible([event for event in events if "ts" in event], "structured"), "structured")
    ledger = Ledger.__new__(Ledger)
    ledger.zone, ledger.now, ledger.memory = ZoneInfo("UTC"), fed._now, fed.memory
    tasks = fed.memory.task_list(status="all").tasks
    ledger.task, ledger.handles = max(tasks, key=lambda task: task.seq).id, {}
    return ledger, events
