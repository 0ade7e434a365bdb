"""The description of the routes: valid, complete, and true, which schemathesis tries to disprove."""

from __future__ import annotations

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.openapi.checks import JsonSchemaError
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ringbolt.operations import OPERATIONS
from ringbolt.surfaces.http.routes import RESOURCES
from tests.support import open_memory
from tests.surfaces.http_support import serving

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("openapi")
    with open_memory(folder / "s.db", workspace=None, active_tasks_file=str(folder / "A.md")) as memory:
        memory.task_register("Deploy", ["Build", "Push"])
        with serving(memory, folder / "tokens.json") as client:
            yield client


@pytest.fixture(scope="module")
def schema(ask):
    loaded = schemathesis.openapi.from_dict(ask("GET", "/openapi.json", token="read").json)
    loaded.config.update(base_url=f"http://127.0.0.1:{ask.port}")
    return loaded


def test_the_description_is_valid_and_complete(ask, schema):
    schema.validate()
    described = ask("GET", "/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert described["security"] == [{"token": []}]
    paths = set(described["paths"])
    assert paths >= {f"/api/{name}" for name, operation in OPERATIONS.items() if operation.http}
    assert paths >= {one.path for one in RESOURCES}
    assert not paths & {f"/api/{name}" for name, operation in OPERATIONS.items() if not operation.http}
    for path, methods in described["paths"].items():
        (route,) = methods.values()
        assert (route.get("security") == []) is (path == "/health")
        assert route["summary"], path


def tried(ask, schema, examples, **kept):
    """Call every route with so many made-up requests; the checks say what is wrong."""
    # On a busy machine a connection that is kept may be closed between two requests.
    secret = {"Authorization": f"Bearer {ask.tokens['write']}", "Connection": "close"}
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=examples, deadline=None, database=None, derandomize=True,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(case=operation.as_strategy(**kept))
        def attempt(case):
            case.call_and_validate(headers=secret, checks=CHECKS, timeout=30)

        with suppress(Unsatisfiable):  # a route without arguments has none that are wrong
            attempt()


def test_made_up_requests_get_the_answers_that_are_described(ask, schema):
    tried(ask, schema, 2)


def test_requests_that_break_the_description_break_nothing_else(ask, schema):
    tried(ask, schema, 1, generation_mode=schemathesis.GenerationMode.NEGATIVE)


@pytest.mark.reliability
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("examples", "mode"), [(40, "POSITIVE"), (15, "NEGATIVE")])
def test_many_made_up_requests(ask, schema, examples, mode):
    """schemathesis at length, some minutes each: 0 server errors."""
    tried(ask, schema, examples, generation_mode=schemathesis.GenerationMode[mode])


def test_the_checks_would_find_an_answer_that_is_not_described(ask):
    """A positive control: with a wrong description they fail."""
    ask.close()  # on a slow machine the server has closed the idle connection; the next request opens another
    described = ask("GET", "/openapi.json").json
    route = described["paths"]["/api/tasks"]["get"]
    described["paths"] = {"/api/tasks": {"get": {**route, "parameters": []}}}
    route["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["data"] = {
        "type": "string"
    }
    wrong = schemathesis.openapi.from_dict(described)
    wrong.config.update(base_url=f"http://127.0.0.1:{ask.port}")
    with pytest.raises((JsonSchemaError, BaseExceptionGroup)):
        tried(ask, wrong, 1)
