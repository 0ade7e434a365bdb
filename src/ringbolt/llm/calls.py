"""Asking a model for an operation: check the budget, call, record the usage; never inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ledger.base import Base, Draft
from ..model import rules
from ..model.errors import RingboltError
from ..model.types import Answer, Task, Written
from ..store.tx import Tx
from . import prompts, spending
from .claims import Ledger
from .client import ModelFailure, ModelServer, Request, Role, Usage, server_for
from .complexity import is_complex
from .faithful import Plan
from .prompts import Extraction, Fact, ModelAnswer
from .spending import Spent

# The reason that an operation gets if no model is set.
NO_MODEL = "no model is set"


class Modelling(Base):
    """Base of operations that may ask a model. An operation inherits from this and calls one of

        self._model_answer(task, question, facts, draft)   -> (Answer | None, reason)
        self._model_summary(task, previous, facts)         -> ((text, model) | None, reason)
        self._model_extraction(task, facts, step)          -> ((Extraction, model) | None, reason)
        self._model_new_request(task, facts, prompt)       -> ((bool, model) | None, reason)
        self._model_report(task, message, text, steps)     -> ((numbers, model) | None, reason)

    outside any transaction. `facts` are `prompts.Fact` values, for an answer the most important first,
    otherwise in order (`prompts.fact_of(event)` makes one from an event). A result has passed every check;
    None comes with the reason in words, and the rule-based result stands. Failures of a model, a server, a
    budget or the store raise nothing, and the usage is in the ledger as `model.used` before the result is
    returned. Questions go to the local model first, and to the remote one only if they are complex; summaries
    and extraction go to the local one alone, new requests and reports to the remote one if there is no local
    one.

    Hooks must not call these: a call takes up to `model_timeout`.
    """

    def _model_answer(
        self, task: Task, question: str, facts: Sequence[Fact], draft: Answer, language: str = "en"
    ) -> tuple[Answer | None, str]:
        """A model's answer to a question, if it agrees with the facts; otherwise None and the reason.

        A definite answer of the ledger in another language than English is not reworded, since it could
        not be checked.
        """
        roles, why = self._for_question(question)
        if not roles:
            return None, why
        if draft.recorded and language != "en":
            return None, "the wording of an answer in another language cannot be checked"

        ledger = Ledger(text=draft.text, cites=draft.cites, definite=draft.recorded, language=language)
        request = prompts.answer_request(question, facts, ledger, _plan(task))
        found, reason = self._asked(roles, task.id, request, self.settings.model_answer_timeout)
        if found is None:
            return None, reason
        answer: ModelAnswer = found[0]
        return draft.replace(text=answer.text, cites=answer.cites, source=found[1], recorded=True), ""

    def _model_summary(
        self, task: Task, previous: str, facts: Sequence[Fact]
    ) -> tuple[tuple[str, str] | None, str]:
        """A running summary and the name of the model that wrote it; otherwise None and the reason."""
        if not self.settings.model_local_url:
            return None, NO_MODEL

        return self._asked(["local"], task.id, prompts.summary_request(previous, facts, _plan(task)))

    def _model_extraction(
        self, task: Task, facts: Sequence[Fact], step: str = ""
    ) -> tuple[tuple[Extraction, str] | None, str]:
        """What a model found worth remembering, and its name; otherwise None and the reason."""
        if not self.settings.model_local_url:
            return None, NO_MODEL

        return self._asked(["local"], task.id, prompts.extraction_request(facts, _plan(task), step))

    def _model_new_request(
        self, task: Task, facts: Sequence[Fact], prompt: str
    ) -> tuple[tuple[bool, str] | None, str]:
        """Whether a prompt begins a new request of a task, and the model's name; otherwise None and the
        reason. The remote model is asked if there is no local one."""
        if not (role := self._model_role()):
            return None, NO_MODEL

        present = task.requests[-1].text if task.requests else ""
        return self._asked([role], task.id, prompts.new_request_request(present, facts, prompt))

    def _model_report(
        self, task: Task, message: Fact, text: str, steps: Sequence[int]
    ) -> tuple[tuple[list[int], str] | None, str]:
        """Which of some steps, by number, a message reports as finished, and the model's name; otherwise None
        and the reason. The remote model is asked if there is no local one."""
        if not (role := self._model_role()):
            return None, NO_MODEL

        return self._asked([role], task.id, prompts.report_request(_plan(task), message, text, steps))

    def _model_role(self) -> Role | None:
        """The model that is asked what needs no special skill: the local one if it is set."""
        settings = self.settings
        return "local" if settings.model_local_url else "remote" if settings.model_remote_url else None

    def _for_question(self, question: str) -> tuple[list[Role], str]:
        """The models to ask a question, in order; if there are none, the reason."""
        roles: list[Role] = ["local"] if self.settings.model_local_url else []
        if self.settings.model_remote_url:
            if is_complex(question):
                roles.append("remote")
            elif not roles:
                return [], "the question is simple, and no local model is set"
        return roles, "" if roles else NO_MODEL

    def _asked(
        self, roles: Sequence[Role], task_id: str, request: Request, patience: float | None = None
    ) -> tuple[tuple[Any, str] | None, str]:
        """The first result from one of these models, with the model's name; otherwise the reasons.

        `patience` limits how long somebody waits for the local model: one that hangs is soon given up.
        """
        reasons: list[str] = []
        for role in roles:
            server = server_for(role, self.settings)
            try:
                seconds = self.settings.model_timeout
                if patience is not None and role == "local":
                    seconds = min(seconds, patience)
                return (self._ask(server, task_id, request, seconds), server.name), ""
            except ModelFailure as failure:
                reasons.append(f"{server.name}: {failure}")
            except RingboltError as error:
                # The store is in trouble, which the caller will notice itself.
                server.pause(f"its usage cannot be recorded ({error.code})")
                reasons.append(f"{server.name}: {error.message}")
        return None, "; ".join(reasons)

    def _ask(self, server: ModelServer, task_id: str, request: Request, seconds: float) -> Any:
        day = self._now()[:10]
        self._check_budget(server, self.store.read(lambda tx: spending.spent(tx, task_id, day)), request)
        try:
            reply = server.ask(request, seconds)
        except ModelFailure as failure:
            if failure.usage.calls or failure.usage.ms:
                self._record(server, task_id, day, request.purpose, failure.usage, failure)
            raise
        self._record(server, task_id, day, request.purpose, reply.usage)
        return reply.result

    def _check_budget(self, server: ModelServer, spent: Spent, request: Request) -> None:
        """Raise if the request, with the longest possible answer, would exceed the budget."""
        settings = self.settings
        tokens_in = request.tokens()
        tokens = tokens_in + request.max_tokens
        if spent.task_tokens + tokens > settings.model_task_tokens:
            raise ModelFailure("budget", f"the task has used {spent.task_tokens} tokens (model_task_tokens)")
        if spent.day_tokens + tokens > settings.model_day_tokens:
            raise ModelFailure("budget", f"today {spent.day_tokens} tokens were used (model_day_tokens)")
        cost = self._cost(server, tokens_in, request.max_tokens)
        if cost and spent.day_cost + cost > settings.model_day_cost:
            raise ModelFailure("budget", f"today has cost {spent.day_cost:.4g} (model_day_cost)")

    def _cost(self, server: ModelServer, tokens_in: int, tokens_out: int) -> float:
        if server.role == "local":
            return 0.0
        settings = self.settings
        return (tokens_in * settings.model_price_in + tokens_out * settings.model_price_out) / 1e6

    def _record(
        self,
        server: ModelServer,
        task_id: str,
        day: str,
        purpose: str,
        usage: Usage,
        failure: ModelFailure | None = None,
    ) -> None:
        """Record the usage: the event and the sums, in one transaction."""
        cost = self._cost(server, usage.tokens_in, usage.tokens_out)
        draft = Draft(
            "model.used",
            data={
                "purpose": purpose,
                "model": server.name,
                "where": server.role,
                "rung": usage.rung,
                "calls": usage.calls,
                "tokens_in": usage.tokens_in,
                "tokens_out": usage.tokens_out,
                "cost": cost,
                "ms": usage.ms,
                "ok": failure is None,
                "failure": failure and failure.kind,
                "reason": failure and failure.reason[:300],
            },
        )
        scribe = self.acting_as(agent="ringbolt", channel="system")

        def work(tx: Tx) -> Written:
            head = scribe._find(tx, task_id, lock=True)
            spending.add(tx, task_id, day, server.name, usage.calls, usage.tokens_in, usage.tokens_out, cost)
            return scribe._append(tx, head, draft.copy(), scribe._now(), "model")

        scribe._commit(work)


def _plan(task: Task) -> Plan:
    return Plan(steps=task.steps, over=task.status not in rules.OPEN)
