"""The task that the user chose for a folder. It counts where a call has neither a task nor a session."""

from __future__ import annotations

from ..tx import Tx


def choose(tx: Tx, workspace: str, task_id: str) -> None:
    """Make a task the one of a folder, in place of any other."""
    tx.database.run(
        "INSERT INTO folder_tasks (workspace_path, task_id) VALUES (:workspace, :task)"
        " ON CONFLICT (workspace_path) DO UPDATE SET task_id = excluded.task_id",
        {"workspace": workspace, "task": task_id},
    )


def chosen(tx: Tx, workspace: str) -> str | None:
    """The task of a folder, if the user chose one."""
    sql = "SELECT task_id FROM folder_tasks WHERE workspace_path = :workspace"
    return tx.cell(sql, workspace=workspace)
