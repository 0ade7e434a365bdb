"""Which questions are worth a remote model."""

from __future__ import annotations

from ringbolt.llm.complexity import is_complex

SIMPLE = """
what step am I on?
what's next?
What is next
where was I?
Where did we leave off yesterday?
what is done so far?
Which steps are completed?
which steps are left
How many steps are open?
is step 3 done?
Did I already push the image?
have we run the migration yet?
did we already compare sqlite and postgres?
why did we choose ghcr.io?
Why did I decide against docker.io?
what did we decide about the registry?
which alternatives did we consider for the cache?
which options were there?
what failed?
What not to try again?
what should I not try again?
What should I do next?
what should I avoid
what is the value of replicas?
What's the port of the proxy?
which version do we deploy?
Which files did I change?
what files were created in the last hour?
What is blocking?
why is the task blocked?
Why are we waiting?
how long did step 2 take?
How long did the build take?
What happened since 14:00?
what happened after the compaction?
what was the original request?
What did the user ask for?
who claimed step 4?
when did the last error occur?
what error did `pytest tests/better/compare.py` give?
Where is the config file?
what was the root cause?
status?
""".strip().splitlines()
COMPLEX = """
Should I change the plan?
analyze the errors
Analyse the errors of the last two hours and say what they have in common
Should we go on with PostgreSQL or move back to SQLite?
What are we doing wrong?  Why does the deployment keep failing?
Why does the build fail only on the second run?
Compare the two approaches to caching
What are the trade-offs between the retry queue and the cron job?
is the remaining plan realistic?
What would happen if we skipped step 4?
What if the registry is down tomorrow?
Could we do steps 3 and 4 in parallel?
How can we make the tests faster?
how does the failed migration affect the steps that are left?
Explain how the new parser relates to the old one
Which of the open steps is the riskiest?
What is the best order for the remaining steps?
Recommend what to do about the flaky test
Is it worth rewriting the importer?
Do the decisions about storage contradict one another?
What caused the outage and how could we have prevented it?
Prioritise the open questions
What lessons can be drawn from the failed attempts?
Is there any way to avoid the second download?
what is done, and why is the rest late, and what do we tell the user? And who decides?
""".strip().splitlines()  # fmt: skip


def test_a_question_about_records_is_simple():
    assert [question for question in SIMPLE if is_complex(question)] == []


def test_a_question_that_needs_judgement_is_complex():
    assert [question for question in COMPLEX if not is_complex(question)] == []


def test_a_story_is_complex_and_any_length_is_judged():
    assert is_complex("We tried to build it and then it " * 10 + "broke")
    assert is_complex("why does " * 50_000)
    assert not is_complex("")
