"""Operations on mirrors: files on disk that show the state of the store."""

from __future__ import annotations

from ..ledger.base import Base
from ..model.operation import operation
from ..model.results import MirrorStatus


class Mirrors(Base):
    """The operations on mirrors; every write refreshes them automatically."""

    @operation(scope="read")
    def mirrors_status(self) -> tuple[MirrorStatus, ...]:
        """Show the mirrors of this workspace, whether each is stale, and why.

        Without a workspace: every mirror. A task that has ended has a mirror if its file exists.
        """
        return () if self._mirrors is None else self._mirrors.status(self.workspace)

    @operation(scope="write", tools="none", repeatable=True)
    def mirrors_refresh(self, *, force: bool = False) -> tuple[MirrorStatus, ...]:
        """Update every mirror of this workspace; returns their status afterwards.

        A file that does not belong to Ringbolt is never touched.

        Args:
            force: Also rewrite files that look current. Files edited by hand are replaced; a copy is kept
                beside them.
        """
        if self._mirrors is not None:
            self._mirrors.refresh(self.workspace, force)
        return self.mirrors_status()
