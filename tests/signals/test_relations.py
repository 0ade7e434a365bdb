"""Which later side effect takes back or replaces an earlier one."""

from __future__ import annotations

from ringbolt.signals.effects.relations import relation
from ringbolt.signals.effects.side_effects import command_effects


def related(earlier, later, notes=("", "")):
    (before,), (after,) = command_effects(earlier), command_effects(later)
    assert before.acts, earlier
    assert after.acts, later
    return relation((before.acts, notes[0]), (after.acts, notes[1]))


def test_the_counterpart_on_the_same_object_undoes_it():
    for earlier, later in (
        ("helm upgrade --install api ./chart -n shop", "helm rollback api 3 -n shop"),
        ("git push origin v1.2.0", "git push origin --delete v1.2.0"),
        ("git push origin v1.2.0", "git push origin :refs/tags/v1.2.0"),
        ("docker compose up -d", "docker compose down"),
        ("kubectl apply -f k8s/api.yaml", "kubectl delete -f k8s/api.yaml"),
        ("terraform apply -auto-approve", "terraform destroy -auto-approve"),
        ("gh pr reopen 12", "gh pr close 12"),
        ("alembic upgrade head", "alembic downgrade -1"),
    ):
        assert related(earlier, later) == "undone", (earlier, later)


def test_the_same_again_replaces_it_and_another_object_does_not():
    assert related("helm upgrade api ./chart", "helm upgrade api ./chart --set tag=2") == "superseded"
    for earlier, later in (
        ("helm upgrade api ./chart -n shop", "helm rollback api 3 -n blog"),
        ("helm upgrade api ./chart", "helm rollback web 3"),
        ("git push origin main", "git push origin --delete v1.2.0"),
        ("gh pr reopen 12", "gh pr close 13"),
        ("kubectl scale deployment/api --replicas 3", "kubectl scale deployment/web --replicas 3"),
    ):
        assert related(earlier, later) is None, (earlier, later)


def test_what_only_the_output_names_is_recognised_by_it():
    notes = ("https://github.com/acme/shop/pull/31", "")
    assert related("gh pr create --fill", "gh pr close 31", notes) == "undone"
    assert related("gh pr create --fill", "gh pr close 32", notes) is None
