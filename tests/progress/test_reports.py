"""Reports: what a message of task_update says about the steps of its plan, in both directions."""

from __future__ import annotations

import pytest

from ringbolt.progress.report_matching import PlanWords, ReportReader
from ringbolt.signals.reports.act_tables import LANGUAGES
from ringbolt.signals.reports.clauses import read_clauses
from ringbolt.signals.reports.tokens import language_of

RELEASE = [
    "Check out the code",
    "Run the test suite",
    "Bump the version",
    "Open the MR",
    "Publish to PyPI",
]


def read(plan, text, over=(), current=None):
    """What a report does: the effects by the number of the step."""
    reader = ReportReader(PlanWords(plan), {number: number - 1 for number in range(1, len(plan) + 1)})
    is_over = [number in over for number in range(1, len(plan) + 1)]
    verdicts = reader.read(text, is_over, None if current is None else current - 1)
    return {
        verdict.step + 1: verdict.effect for verdict in verdicts if verdict.effect not in ("ask", "unsure")
    }


def acts(text, default="en"):
    return [clause.act for clause in read_clauses(text, default=default)]


# --- finished


@pytest.mark.parametrize(
    ("plan", "text", "over", "step"),
    [
        (RELEASE, "Checked out the code.", (), 1),
        (RELEASE, "The suite is green now", (1,), 2),
        (RELEASE, "merge request is up: !31", (1, 2, 3), 4),
        (RELEASE, "Open the MR: done", (1, 2, 3), 4),
        (RELEASE, "I finished this: Open the MR", (1, 2, 3), 4),
        (RELEASE, "Step 2/5 ✔", (), 2),
        (RELEASE, "Done.", (1,), 2),
        (["Back up the data", "Apply the schema change"], "schema change applied in 9 s", (1,), 2),
        (["Buy train tickets", "Reserve a hotel"], "train tickets bought: ICE 71", (), 1),
        (["Reproduce it", "Bisect to the offending commit"], "narrowed it down to commit 9c1f", (1,), 2),
        (
            ["Collect the policies", "Draft the handbook", "Print it"],
            "handbook drafted, all finished",
            (1,),
            2,
        ),
        (["Order the switches", "Run the cables"], "switches arrived this morning", (), 1),
        (["Choose the venue", "Hire a caterer"], "we're going with the boathouse", (), 1),
        (["Get permission from the city", "Find sponsors"], "city said yes", (), 1),
        (["Write the exam", "Print the copies"], "60 copies printed", (1,), 2),
        (["Write the exam", "Print the copies"], "Wrote the exam, 8 questions", (), 1),
        (["Check the queue", "Restart it"], "queue checked: 4,100 mails stuck", (), 1),
    ],
)
def test_a_message_moves_the_step_whose_work_it_reports_in_its_own_words(plan, text, over, step):
    assert read(plan, text, over) == {step: "completed"}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Steps 1-3 are done", {1, 2, 3}),
        ("done with 1-3", {1, 2, 3}),
        ("steps 1, 2 and 4 are finished", {1, 2, 4}),
        ("The second step is done.", {2}),
        ("Checked out the code and bumped the version", {1, 3}),
        ("All done.", {1, 2, 3, 4, 5}),
        ("Everything is finished!", {1, 2, 3, 4, 5}),
        ("- [x] Check out the code\n- [x] Run the test suite\n- [ ] Bump the version", {1, 2}),
    ],
)
def test_a_message_may_finish_several_steps(text, steps):
    assert {step for step, effect in read(RELEASE, text).items() if effect == "completed"} == steps


# --- not finished


@pytest.mark.parametrize(
    "text",
    [
        "the build log prints: step 2 done",
        "she wrote that everything is finished",
        "Tom says the version is bumped",
        "According to the README, step 1 is complete.",
        "Is step 1 done?",
        "Should I call step 1 done",
        "Once step 1 is done we can look at the rest.",
        "If the suite is green, everything is done by Monday.",
        "I will check out the code tomorrow.",
        "Step 1 is not done yet.",
        "Step 1 is almost done.",
        "It rained all morning.",
        "Had lunch with Anna.",
        "Fixed a typo in the wiki.",
        "1 of 5 files checked out",
        "All tests of the other project are done.",
        "> step 1 done",
        "```\nstep 1 done\n```",
        "Steps 1, 4 and 9 are done.",
        "note 3",
        "I think step 1 is done.",
    ],
)
def test_what_is_not_the_agents_own_statement_of_an_end_completes_nothing(text):
    assert "completed" not in read(RELEASE, text).values()


def test_another_action_on_the_same_thing_is_another_step():
    plan = ["Open the MR", "Review the MR", "Merge the MR"]
    assert read(plan, "the MR is up") == {1: "completed"}
    assert "completed" not in read(plan, "the MR is up", over=(1,)).values()
    assert read(plan, "reviewed the MR, two comments", over=(1,)) == {2: "completed"}


def test_tests_that_pass_on_the_way_do_not_finish_the_step_that_runs_them_at_the_end():
    plan = ["Add the model", "Update the README", "Run the tests"]
    assert "completed" not in read(plan, "tests pass").values()
    assert read(plan, "tests pass", over=(1, 2)) == {3: "completed"}


# --- begun, partly, failed, skipped, reopened


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("bumping to 3.2.0", 3),
        ("Starting with the test suite now", 2),
        ("Step 4: opening the MR...", 4),
        ("Now the version.", 3),
        ("half of the test suite ran so far", 2),
        ("push to PyPI was denied, trying again", 5),
    ],
)
def test_what_begins_goes_on_or_fails_for_now_is_the_step_in_work(text, step):
    assert read(RELEASE, text) == {step: "active"}


def test_a_failure_that_names_its_step_fails_it_and_a_later_success_completes_it():
    assert read(RELEASE, "Step 4 failed: no permission", over=(1, 2, 3)) == {4: "failed"}
    assert read(["Reproduce the crash", "Fix it"], "it crashes here too") == {1: "completed"}


def test_a_step_that_is_called_unnecessary_is_skipped():
    assert read(RELEASE, "skipping step 3", over=(1, 2)) == {3: "skipped"}
    assert read(RELEASE, "Bump the version: not needed", over=(1, 2)) == {3: "skipped"}


@pytest.mark.parametrize(
    "text",
    ["step 3 is not done after all", "Reopening step 3", "Step 3 has to be redone", "step 3 isn't finished"],
)
def test_a_step_that_is_said_to_be_open_after_all_is_reopened(text):
    assert read(RELEASE, text, over=(1, 2, 3)) == {3: "reopened"}


def test_an_addition_may_take_back_what_the_sentence_began_with():
    plan = ["Pack the boxes", "Hand over the keys"]
    assert read(plan, "9 boxes packed, roughly 30 to go") == {1: "active"}
    assert read(plan, "boxes packed, except the kitchen") == {1: "active"}


def test_one_sentence_may_end_a_step_and_begin_the_next():
    assert read(RELEASE, "Bumped the version. Step 4: opening the MR...", over=(1, 2)) == {
        3: "completed",
        4: "active",
    }
    assert read(RELEASE, "version bumped, but the MR is not open yet", over=(1, 2)) == {3: "completed"}


# --- languages

SAID = {
    "en": (
        "The report is finished.",
        "I am writing the report.",
        "The report is not finished.",
        "The report failed.",
    ),
    "de": (
        "Der Bericht ist fertig.",
        "Ich arbeite an dem Bericht.",
        "Der Bericht ist nicht fertig.",
        "Der Bericht ist gescheitert.",
    ),
    "fr": (
        "Le rapport est terminé.",
        "Le rapport est en cours.",
        "Le rapport n'est pas terminé.",
        "Le rapport a échoué.",
    ),
    "es": (
        "El informe está terminado.",
        "Estoy escribiendo el informe.",
        "El informe no está terminado.",
        "El informe falló.",
    ),
    "pt": (
        "O relatório está pronto.",
        "Estou escrevendo o relatório.",
        "O relatório ainda não está pronto.",
        "O relatório falhou.",
    ),
    "it": (
        "Il rapporto è finito.",
        "Sto scrivendo il rapporto.",
        "Il rapporto non è finito.",
        "Il rapporto è fallito.",
    ),
    "nl": (
        "Het rapport is klaar.",
        "Ik ben bezig met het rapport.",
        "Het rapport is nog niet klaar.",
        "Het rapport is mislukt.",
    ),
    "zh": (
        "报告完成了。",
        "正在写报告。",
        "报告还没完成。",
        "报告失败。",
    ),
    "ja": (
        "報告書が完了しました。",
        "報告書を作成中です。",
        "報告書はまだ終わっていません。",
        "報告書の作成に失敗。",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_acts_are_read_in_each_language(language):
    assert [acts(text, language)[0] for text in SAID[language]] == ["finished", "begun", "denied", "failed"]
    assert language_of(" ".join(SAID[language])) == language


@pytest.mark.parametrize(
    ("plan", "text", "step"),
    [
        (["Fahrkarten kaufen", "Hotel buchen"], "Fahrkarten gekauft, ICE 882", 1),
        (["Verhuiswagen huren", "Dozen inpakken"], "wagen gehuurd voor zaterdag", 1),
        (["Réserver la salle", "Envoyer les invitations"], "salle réservée pour le 12", 1),
        (["Comprar los billetes", "Reservar el hotel"], "billetes comprados, salida el 4", 1),
        (["Recolher os dados", "Escrever o rascunho"], "dados recolhidos", 1),
        (["Scegliere la location", "Prenotare il fotografo"], "scelta la location: Villa Adele", 1),
        (["编写测试", "修复登录错误"], "测试已经写好了", 1),
        (["会議室を予約する", "資料を作成する"], "会議室を予約しました", 1),
        (["Buy train tickets", "Book a hotel"], "Step 1 erledigt", 1),
    ],
)
def test_steps_are_matched_in_each_language(plan, text, step):
    assert read(plan, text) == {step: "completed"}


def test_a_long_or_odd_message_is_read_to_its_limits():
    for text in ("", " ", "?", "1", "…", "done " * 5000, "\ue000999", "第步", "a-" * 3000, "🏳️‍🌈" * 500):
        read(RELEASE, text)


def test_what_somebody_asks_is_not_stated():
    assert acts("the importer asks whether we've shipped already") == ["none"]
    assert acts("Der Kunde fragt, ob alles geliefert ist", "de") == ["none"]
    assert acts("checked whether the pump works") == ["finished"]


def test_the_whole_message_may_finish_a_step_that_no_clause_does():
    plan = ["Upgrade Django", "Replace the removed APIs", "Run the suite"]
    assert read(plan, "Django 5.0.3 is installed. Replacing the removed APIs now.")[1] == "completed"


def test_what_is_likely_moves_the_work_on_and_is_asked(memory):
    task = memory.task_register("Trip", ["Agree on the dates", "Book the train", "Reserve the hotel"]).task_id
    written = memory.task_update(task, "The dates are 14 to 18 May.")
    done = memory.task_get(task).steps[0].status == "completed"
    assert done or (bool(written.asks) and written.current == "s2")
