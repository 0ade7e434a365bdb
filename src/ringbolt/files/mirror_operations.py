"""Operations on mirrors: files on disk that show what the store holds."""

from __future__ import annotations

from ..ledger.base import Base
from ..model.results import MirrorStatus


class Mirrors(Base):
    """The operations on mirrors; every write refreshes them without being asked."""

    def mirrors_status(self) -> tuple[MirrorStatus, ...]:
        """How each mirror of this workspace stands: what it shows, and why it is stale if it is.

        Without a workspace: every mirror. A task that has ended has one if its file is there.
        """
        return () if self._mirrors is None else self._mirrors.status(self.workspace)

    def mirrors_refresh(self, *, force: bool = False) -> tuple[MirrorStatus, ...]:
        """Bring every mirror of this workspace up to date; returns how each of them stands then.

        `force` writes also those whose stamp is right, so that what was edited by hand is replaced; the
        edited file is kept beside it. A file that is not ours is never touched.
        """
        if self._mirrors is not None:
            self._mirrors.refresh(self.workspace, force)
        return self.mirrors_status()
