"""What users forbid, in their words, and the calls that go against it."""

from __future__ import annotations

import pytest

from ringbolt.hosts.hook_parts.calls import may_forbid as hook_may_forbid
from ringbolt.hosts.hook_parts.card_check import call_texts
from ringbolt.signals.prohibitions import (
    exclusion_rule,
    goes_against,
    lifts,
    may_forbid,
    names_again,
    prohibitions,
    read_call,
    tool_call,
)

AGAINST = [
    ("Please don't ever touch the `infra/` folder.", "edit infra/main.tf"),
    ("Hands off infra/ please", "edit /w/infra/main.tf"),
    ("I'd rather you didn't edit config/prod.yaml", "edit config/prod.yaml"),
    ("Treat vendor/ as read-only.", "edit vendor/x.go"),
    ("The generated/ folder is read-only", "edit generated/a.go"),
    ("Nothing under contracts/ may be changed", "edit contracts/a.sol"),
    ("Leave the tests as they are", "edit tests/test_a.py"),
    ("Please keep README.md unchanged", "rm README.md"),
    ("The file config/prod.yaml must not be changed.", "sed -i s/a/b/ config/prod.yaml"),
    ("you must not touch the schema (db/schema.sql)", "edit db/schema.sql"),
    ("Don't create any new files in src/legacy", "edit src/legacy/new.py"),
    ("do not edit src/a.py or src/b.py", "edit src/b.py"),
    ("Leave the staging database alone", 'psql -h staging-db.internal -c "DELETE FROM sessions"'),
    ("don't rename or move files under public/", "mv public/a.png public/b.png"),
    ("Do not delete anything in data/", "rm data/a.csv"),
    ("don't write to /etc", "echo a > /etc/hosts"),
    ("under no circumstances push to main", "git push origin main"),
    ("You are not allowed to run rm -rf", "rm -rf build"),
    ("We don't use yarn here, use npm", "yarn add x"),
    ("never commit .env", "git add .env"),
    ("Don't use sudo.", "sudo apt-get update"),
    ("Do not use --no-verify", "git commit --no-verify -m x"),
    ("Never use docker.io, it is blocked here", "podman pull docker.io/redis:7"),
    ("don't open a PR yet", "gh pr create --fill"),
    ("Don't bump any dependencies", "npm update"),
    ("no new dependencies", "cargo add serde"),
    ("Don't install anything new and do not push", "git push"),
    ("Don't post to Slack", "tool mcp__slack__post_message"),
    ("don't run anything against the prod database", "psql -h prod-db -c 'update x set y=1'"),
    ("Don't run migrations on prod", "ENV=production alembic upgrade head"),
    ("Don't restart nginx", "systemctl restart nginx"),
    ("Never force push.", "git push --force-with-lease"),
    ("do not use npx", "npx jest"),
    ("Don't run the integration tests", "npm run test:integration"),
    ("If the tests fail, do not push", "git push"),
    ("please do not merge the branch", "git merge feature"),
    ("Don't terraform apply", "terraform apply"),
    ("Fix it, but do not deploy", "./deploy.sh"),
    ("Make sure you never touch vendor/ or third_party/", "edit third_party/a.c"),
    ("Only touch src/api/", "edit src/web/page.ts"),
    ("Please change only `docs/guide.md`.", "edit README.md"),
    ("Don't edit anything outside of packages/core", "edit packages/cli/main.ts"),
    ("Fix it, and touch nothing but lib/parser.py", "edit lib/lexer.py"),
    ("Restrict your changes to services/billing/", "edit services/mail/send.py"),
    ("Keep your edits inside app/models/ and app/views/", "edit app/helpers/x.rb"),
    ("Avoid lodash", "npm install lodash"),
    ("avoid docker.io, the quota is used up", "docker pull docker.io/redis:7"),
    ("Please avoid `--no-verify`", "git commit --no-verify -m x"),
]
ALLOWED = [
    ("Do not touch db/migrations/", "cat db/migrations/1.sql"),
    ("Do not touch db/migrations/", "edit docs/migrations.md"),
    ("under no circumstances push to main", "git push origin feature"),
    ("never commit .env", "git commit -m x"),
    ("don't run anything against the prod database", "psql -h localhost -c 'update x set y=1'"),
    ("Do not delete anything in data/", "edit data/a.csv"),
    ("Don't restart nginx", "systemctl restart redis"),
    ("Never force push.", "git push"),
    ("Don't run the integration tests", "npm run test:unit"),
    ("no new dependencies", "npm ci"),
    ("do not deploy on fridays", "./deploy.sh"),
    ("don't forget to push", "git push"),
    ("Why don't you push?", "git push"),
    ("Do not push if the tests fail", "git push"),
    ("I don't think we should use Redis", "docker run redis"),
    ("Don't commit without running the tests", "git commit -m x"),
    ("`bun run lint` — no lint errors", "bun run lint"),
    ("No changes needed in the database", "psql -c 'update x set y=1'"),
    ("Don't change the version in package.json", "edit package.json"),
    ("```\ndo not push\n```", "git push"),
    ("Only touch src/api/", "edit src/api/routes.ts"),
    ("Only touch src/api/", "cat src/web/page.ts"),
    ("Only touch src/api/", "edit /tmp/note.md"),
    ("Only touch the header", "edit src/web/page.ts"),
    ("I only changed src/api/", "edit src/web/page.ts"),
    ("Should we only touch src/api/?", "edit src/web/page.ts"),
    ("Keep your edits inside app/models/ and app/views/", "edit app/views/x.erb"),
    ("Keep in mind that a.py is old", "edit b.py"),
    ("Avoid duplication", "rm duplication.md"),
    ("avoid regressions", "npm test -- regressions"),
]


def call_of(text):
    word, _, rest = text.partition(" ")
    if word == "edit":
        return read_call("", rest, "x", "/w"), ("Edit", {"file_path": rest, "new_string": "x"})
    if word == "tool":
        return tool_call(rest, []), (rest, {})
    return read_call(text, "", "", "/w"), ("Bash", {"command": text})


@pytest.mark.parametrize(("said", "text"), AGAINST)
def test_a_call_that_was_forbidden_goes_against_it_and_hooks_see_that_it_may(said, text):
    call, (tool, given) = call_of(text)
    found = [one for one in prohibitions(said) if goes_against(one, call)]
    assert found
    assert may_forbid(said)
    assert hook_may_forbid(said)
    texts = call_texts(tool, given)
    for one in found:
        hints = [(kind[0], words) for kind, words in one.hints()]
        assert any(all(word in texts[kind] for word in words) for kind, words in hints), hints


@pytest.mark.parametrize(("said", "text"), ALLOWED)
def test_a_call_that_was_not_forbidden_does_not(said, text):
    assert not any(goes_against(one, call_of(text)[0]) for one in prohibitions(said))


def test_a_later_wish_of_the_user_lifts_a_prohibition():
    (push,) = prohibitions("Do not push, I want to review first.")
    assert lifts(push, "Looks good, you can push now.")
    assert not lifts(push, "Looks good.")
    assert not lifts(push, "Please don't push it to main.")
    (path,) = prohibitions("Do not touch db/migrations/")
    assert lifts(path, "OK, now add a migration under db/migrations/ for it.")
    assert not lifts(path, "Now rename the field in src/.")
    (force,) = prohibitions("Never force push.")
    assert not lifts(force, "You can push now.")


def test_another_wish_for_a_change_widens_what_alone_may_be_touched():
    (only,) = prohibitions("Only touch src/api/ for now")
    assert lifts(only, "Now also update the docs.")
    assert lifts(only, "Please fix the page in src/web/page.ts")
    assert not lifts(only, "Looks good so far.")
    assert not lifts(only, "Please rename the handler in src/api/routes.ts")
    assert not only.outlasts_task()


def test_what_only_holds_for_the_task_does_not_outlast_it():
    lasting = {said: prohibitions(said)[0].outlasts_task() for said in
               ("don't commit", "never commit", "don't touch a.py", "do not push to main")}  # fmt: skip
    assert lasting == {
        "don't commit": False, "never commit": True, "don't touch a.py": True, "do not push to main": True,
    }  # fmt: skip


def test_an_exclusion_rules_out_what_has_all_its_words():
    rule = exclusion_rule("docker compose up with the host network")
    assert rule is not None
    assert goes_against(rule, read_call("docker compose --network host up", "", ""))
    assert not goes_against(rule, read_call("docker compose up", "", ""))
    rule = exclusion_rule("using multiprocessing in report/render.py")
    assert rule is not None
    assert goes_against(rule, read_call("", "report/render.py", "import multiprocessing"))
    assert not goes_against(rule, read_call("", "report/render.py", "import threading"))
    assert exclusion_rule("it") is None


def test_words_of_a_rejected_call_are_named_again_only_without_a_negation():
    assert names_again({"old-cart"}, "You can delete old-cart now.")
    assert not names_again({"old-cart"}, "Never delete old-cart.")
    assert not names_again({"old-cart"}, "Tidy up.")
