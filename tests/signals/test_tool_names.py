"""What a tool is, by the names that hosts and MCP servers give it."""

from __future__ import annotations

from ringbolt.signals.calls import tools
from ringbolt.signals.effects.side_effects import side_effects


def test_tools_of_many_hosts_are_known_by_their_names():
    for name in ("Bash", "run_shell_command", "shell", "local_shell", "exec_command", "execute_command",
                 "PowerShell", "run_in_terminal", "cmd"):  # fmt: skip
        assert tools.is_shell(name), name
    for name in ("Edit", "apply_patch", "str_replace_editor", "write_file", "NotebookEdit", "create_file",
                 "insert_edit_into_file", "replace"):  # fmt: skip
        assert tools.is_edit(name, {"path": "a.py"}), name
        assert not tools.is_shell(name), name
    for name in ("Read", "Grep", "list_directory", "codebase_search", "google_web_search", "TodoRead"):
        assert tools.is_read_only(name), name
    for name in ("WebFetch", "browser_navigate", "mcp__fetch__fetch"):
        assert tools.is_web(name), name
    assert not tools.is_edit("apply_patch", {})  # which file is not known
    assert not tools.is_read_only("Bash")


def test_a_tool_of_a_server_acts_outside_by_the_words_of_its_name():
    for name, given, kind in (
        ("mcp__github__merge_pull_request", {"repo": "shop", "pull_number": 7}, "pull_request"),
        ("github.create_issue", {"title": "Flaky"}, "issue"),
        ("mcp__ms-teams__sendChannelMessage", {"text": "Done"}, "message"),
        ("mcp__google_calendar__create_event", {"summary": "Demo"}, "calendar"),
        ("mcp__postgres__execute_sql", {"sql": "delete from carts"}, "database"),
        ("mcp__stripe__create_refund", {"charge": "ch_1"}, "payment"),
        ("mcp__http__request", {"method": "put", "url": "https://example.com/a"}, "http"),
    ):
        assert [one.kind for one in side_effects(name, given)] == [kind], name
    for name, given in (
        ("mcp__github__list_issues", {"state": "open"}),
        ("mcp__filesystem__write_file", {"path": "a.txt"}),
        ("mcp__postgres__query", {"sql": "select * from carts"}),
        ("mcp__playwright__browser_click", {"element": "Send mail"}),
        ("mcp__memory__create_entities", {"entities": []}),
        ("mcp__http__request", {"method": "GET", "url": "https://example.com/a"}),
        ("mcp__ringbolt__task_create", {"name": "x"}),
        ("Write", {"file_path": "send_message.py"}),
    ):
        assert side_effects(name, given) == [], name
