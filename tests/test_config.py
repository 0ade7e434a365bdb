"""Settings: defaults < TOML < environment < arguments, and errors that name the place."""

from __future__ import annotations

import math
import os

import pytest

from ringbolt import TaskMemory
from ringbolt.config import SETTINGS, Settings, load_settings, store_location, user_folder
from ringbolt.model.errors import InvalidInput
from tests.support import HUGE


@pytest.fixture
def config(tmp_path):
    """A function that writes a settings file and gives the environment that names it."""

    def write(text: str | bytes) -> dict[str, str]:
        path = tmp_path / "given.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return {"RINGBOLT_CONFIG": str(path)}

    return write


def refusal(environ, **arguments) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        load_settings(environ, **arguments)
    assert caught.value.code == "invalid_argument"
    return caught.value


def test_without_anything_the_defaults_hold():
    settings = load_settings({})
    assert settings == Settings()
    assert settings.sources == {}


def test_every_setting_is_described_and_its_default_is_allowed():
    assert set(Settings.__struct_fields__) == {*SETTINGS, "sources"}
    for name, setting in SETTINGS.items():
        assert getattr(load_settings({}, **{name: setting.default}), name) == setting.default
        assert setting.meaning.endswith("."), name


def test_a_file_beats_the_defaults(config):
    environ = config("lease_seconds = 60\nmax_plan_steps = 500\n")
    settings = load_settings(environ)
    assert (settings.lease_seconds, settings.max_plan_steps) == (60.0, 500)
    assert settings.lock_timeout == Settings().lock_timeout
    assert settings.sources == dict.fromkeys(("lease_seconds", "max_plan_steps"), environ["RINGBOLT_CONFIG"])


def test_the_environment_beats_the_file_and_an_argument_beats_both(config):
    environ = {
        **config('lease_seconds = 60\nlock_timeout = 5\nstore = "file.db"\nmax_json_depth = 10\n'),
        "RINGBOLT_LEASE_SECONDS": "70",
        "RINGBOLT_LOCK_TIMEOUT": "6.5",
        "RINGBOLT_STORE": "environment.db",
    }
    settings = load_settings(environ, lock_timeout=7, store="argument.db")
    assert (settings.max_json_depth, settings.lease_seconds) == (10, 70.0)
    assert (settings.lock_timeout, settings.store) == (7.0, "argument.db")
    assert settings.sources == {
        "max_json_depth": environ["RINGBOLT_CONFIG"],
        "lease_seconds": "RINGBOLT_LEASE_SECONDS",
        "lock_timeout": "argument",
        "store": "argument",
    }


def test_an_argument_of_none_and_an_empty_variable_say_nothing(config):
    environ = {**config("lease_seconds = 60\n"), "RINGBOLT_LEASE_SECONDS": ""}
    assert load_settings(environ, lease_seconds=None).lease_seconds == 60.0


def test_every_setting_can_come_from_the_environment():
    for name, setting in SETTINGS.items():
        given = "36h" if setting.kind == "duration" else (setting.words or ("/some/text",))[-1]
        given = str(setting.least) if setting.kind == "number" else given
        found = getattr(load_settings({f"RINGBOLT_{name.upper()}": given}), name)
        assert found == (setting.least if setting.kind == "number" else given), name
        assert type(found) is type(setting.default), name


def test_the_users_settings_file_is_found_by_itself(tmp_path, monkeypatch):
    folder = tmp_path / "config" / "ringbolt"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("lease_seconds = 42\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert load_settings().lease_seconds == 42.0


def test_a_given_environment_decides_where_the_users_settings_file_is(tmp_path):
    folder = tmp_path / "other" / "ringbolt"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("lease_seconds = 42\n")
    assert load_settings({"XDG_CONFIG_HOME": str(tmp_path / "other")}).lease_seconds == 42.0


def test_user_folders_follow_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/mine")
    assert user_folder("data") == f"{tmp_path}/.local/share/ringbolt"
    assert user_folder("config") == "/etc/mine/ringbolt"
    assert store_location(Settings()) == f"{tmp_path}/.local/share/ringbolt/ringbolt.db"
    assert store_location(Settings(store="sqlite:///x.db")) == "sqlite:///x.db"


# --- errors -----------------------------------------------------------------------------------------


def test_an_unknown_setting_is_refused_and_the_error_names_the_file_and_the_choices(config):
    environ = config("leese_seconds = 60\n")
    error = refusal(environ)
    assert "leese_seconds" in error.message
    assert environ["RINGBOLT_CONFIG"] in error.message
    assert "lease_seconds" in error.hint


def test_an_unknown_argument_is_refused():
    error = refusal({}, leese_seconds=60)
    assert "leese_seconds" in error.message
    assert "argument" in error.message


@pytest.mark.parametrize("value", ["soon", "", -1, 0, 604_801, True, math.nan, math.inf, [], {}, HUGE])
def test_a_bad_value_is_refused_and_the_error_names_the_bounds(value):
    error = refusal({}, lease_seconds=value)
    assert "lease_seconds" in error.message
    assert "(argument)" in error.message
    assert "1 to 604,800" in error.message


@pytest.mark.parametrize("value", [1023, "many", 2048.5, True, math.inf, -math.inf, math.nan, HUGE])
def test_a_bad_whole_number_is_refused(value):
    assert "max_text_bytes" in refusal({}, max_text_bytes=value).message


@pytest.mark.parametrize("value", ["inf", "nan", "1e3", "0x400", "-5", "9" * 5000])
def test_a_bad_value_in_the_environment_is_refused_by_the_name_of_its_variable(value):
    error = refusal({"RINGBOLT_MAX_TEXT_BYTES": value})
    assert "RINGBOLT_MAX_TEXT_BYTES" in error.message
    assert len(error.message) < 300


@pytest.mark.parametrize("value", ["normal", "FULL", 1, True])
def test_a_word_must_be_one_of_the_known_ones(value):
    error = refusal({}, synchronous=value)
    assert "one of full, off" in error.message


@pytest.mark.parametrize(
    "text",
    ["not toml", "a = ", b"\xff\xfe", "lease_seconds = 1\nlease_seconds = 2\n", "max_text_bytes = inf\n",
     pytest.param(f"max_text_bytes = {'9' * 5000}\n", id="number-of-5000-digits"), "[table]\nx = 1\n"],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_by_its_name(config, text):
    environ = config(text)
    assert environ["RINGBOLT_CONFIG"] in refusal(environ).message


def test_a_settings_file_that_is_a_folder_is_refused(tmp_path):
    assert str(tmp_path) in refusal({"RINGBOLT_CONFIG": str(tmp_path)}).message


# --- what the settings are for ----------------------------------------------------------------------


def test_a_store_is_found_by_argument_then_environment_then_file_then_data_folder(
    monkeypatch, config, tmp_path
):
    def where(location=None, **options) -> str:
        with TaskMemory.open(location, workspace=None, **options) as memory:
            return memory.store.path

    assert where() == f"{os.environ['XDG_DATA_HOME']}/ringbolt/ringbolt.db"
    environ = config(f'store = "{tmp_path}/from-file.db"\n')
    monkeypatch.setenv("RINGBOLT_CONFIG", environ["RINGBOLT_CONFIG"])
    assert where() == f"{tmp_path}/from-file.db"
    monkeypatch.setenv("RINGBOLT_STORE", f"{tmp_path}/from-environment.db")
    assert where() == f"{tmp_path}/from-environment.db"
    assert where(tmp_path / "given.db") == f"{tmp_path}/given.db"
    assert where(f"sqlite://{tmp_path}/url.db") == f"{tmp_path}/url.db"
    assert where(settings=Settings(store=f"{tmp_path}/settings.db")) == f"{tmp_path}/settings.db"


def test_a_location_is_used_even_when_settings_are_given(store_url):
    with TaskMemory.open(store_url, workspace=None, settings=Settings(lease_seconds=60)) as memory:
        assert memory.settings.lease_seconds == 60
        with TaskMemory.open(store_url, workspace=None) as plain:
            assert memory.store.url == plain.store.url


def test_a_setting_given_with_settings_is_not_silently_lost(store_url):
    settings = Settings(store=store_url)
    with TaskMemory.open(workspace=None, settings=settings, lease_seconds=60) as memory:
        assert memory.settings.lease_seconds == 60


def test_any_setting_can_be_given_when_opening(store_url):
    with TaskMemory.open(store_url, workspace=None, lease_seconds=60, max_json_depth=5) as memory:
        assert (memory.settings.lease_seconds, memory.settings.max_json_depth) == (60.0, 5)


def test_the_store_knows_its_url_and_opens_by_it_again(store_url):
    with TaskMemory.open(store_url, workspace=None) as memory:
        task = memory.task_register("a").task_id
        url = memory.store.url
    with TaskMemory.open(url, workspace=None) as again:
        assert again.task_get(task).name == "a"
