"""A permanent installation for `uvx ringbolt install`: a stand-in for uv says what it was asked to do."""

from __future__ import annotations

import pytest

from ringbolt import RingboltError, __version__
from ringbolt.hosts.install.permanent import permanent_ringbolt

_UV = """#!/bin/sh
echo "$@" >> "{log}"
case "$1 $2" in
  "tool dir") echo "{programs}" ;;
  "tool install") [ -n "{works}" ] || {{ echo "no such package" >&2; exit 1; }}
    printf '#!/bin/sh\\n' > "{programs}/ringbolt"; chmod +x "{programs}/ringbolt" ;;
esac
"""


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """Install the stand-in, and return a function that gives its calls."""
    (tmp_path / "programs").mkdir()

    def make(*, works: bool = True):
        program = tmp_path / "uv"
        program.write_text(
            _UV.format(log=tmp_path / "log", programs=tmp_path / "programs", works="yes" if works else "")
        )
        program.chmod(0o755)
        monkeypatch.setenv("UV", str(program))
        return lambda: (tmp_path / "log").read_text().splitlines() if (tmp_path / "log").exists() else []

    return make


@pytest.mark.parametrize(
    "prefix", ["/usr", "/home/me/project/.venv", "/home/me/.local/share/uv/tools/ringbolt"]
)
def test_an_environment_that_stays_needs_no_other(uv, prefix):
    calls = uv()
    assert permanent_ringbolt(install=True, prefix=prefix) is None
    assert calls() == []


def test_in_a_temporary_environment_it_is_installed_once_with_the_same_tool(uv, tmp_path):
    calls = uv()
    prefix = "/home/me/.cache/uv/archive-v0/0SLhenYbQgP45Tad"
    assert permanent_ringbolt(install=False, prefix=prefix) is None, "a check installs nothing"
    for _ in range(2):
        assert permanent_ringbolt(install=True, prefix=prefix) == str(tmp_path / "programs/ringbolt")
    installed = [call for call in calls() if "install" in call]
    assert len(installed) == 1
    assert f"ringbolt=={__version__}" in installed[0] or "file://" in installed[0], "from where this one came"


def test_a_tool_that_fails_is_quoted_with_what_to_run(uv):
    uv(works=False)
    with pytest.raises(RingboltError, match="no such package") as caught:
        permanent_ringbolt(install=True, prefix="/home/me/.cache/uv/archive-v0/0SL")
    assert caught.value.code == "not_installed"
    assert "tool install" in caught.value.hint
