"""A git repository as a remote: one ref, `refs/ringbolt/sync`, whose tree has a file for each segment.

Objects are made and fetched in a bare repository beside the store, so that the user's own repository is only
asked for the URL of a remote; its branches, index and working tree are never touched.
"""

from __future__ import annotations

import os
import subprocess

from ..model.errors import InvalidInput, StoreError, shown
from .folder_remote import new_name
from .segments import MAX_BYTES

REF = "refs/ringbolt/sync"
_SECONDS = 600
_WHO = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ringbolt"), ("EMAIL", "ringbolt@localhost"))}  # fmt: skip
# Variables that git sets for its hooks, and that would lead us into the repository of the caller.
_OTHER_REPOSITORY = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH",
)  # fmt: skip
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false")


class GitFailed(Exception):
    """A git command failed; the message is its last line."""


def git(
    *words: str, folder: str | None = None, content: bytes | None = None, seconds: float = _SECONDS
) -> bytes:
    """Run git and return its output; GitFailed if it fails."""
    environ = {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}
    environ.update({"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **_WHO})
    try:
        done = subprocess.run(
            ["git", *_QUIET, *words],
            input=b"" if content is None else content,
            capture_output=True,
            cwd=folder,
            env=environ,
            timeout=seconds,
        )
    except FileNotFoundError:
        raise InvalidInput(
            "sync_remote", "git is not installed.", "Install git, or sync with a folder or a server."
        ) from None
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {words[0]} took more than {seconds:g} s") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(lines[-1] if lines else f"git {words[0]} ended with {done.returncode}")
    return done.stdout


def remote_url(name: str, folder: str | None) -> str | None:
    """The URL of a remote of the repository in a folder; None if it has no such remote."""
    if name.startswith("-") or "/" in name or ":" in name:
        return None
    try:
        return git("remote", "get-url", name, folder=folder).decode().strip() or None
    except GitFailed:
        return None


def is_repository(path: str) -> bool:
    """Whether a folder is a git repository itself, bare or with a working tree."""
    bare = all(os.path.exists(os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))
    return bare or os.path.exists(os.path.join(path, ".git"))


class GitRemote:
    """Segments as files of the commit that the ref of a repository points to."""

    def __init__(self, url: str, cache: str) -> None:
        if url.startswith("-"):
            raise InvalidInput("sync_remote", f"{shown(url)} is not a git remote.", "Give its URL or path.")
        self.name = url
        self._cache = cache
        self._tip = ""
        self._blobs: dict[str, str] = {}

    def names(self) -> list[str]:
        """Fetch the ref; returns the names of all segments, the oldest first."""
        self._prepare()
        self._tip = self._remote_tip()
        self._blobs = {}
        if self._tip:
            if not self._has(self._tip):
                self._git(
                    "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", self.name, f"+{REF}:{REF}"
                )
                if not self._has(self._tip):  # it has moved on since we asked
                    self._tip = self._git("rev-parse", REF).decode().strip()
            listing = self._git("ls-tree", "-z", self._tip).split(b"\0")
            for line in filter(None, listing):
                kind, _, name = line.partition(b"\t")
                mode, what, blob = kind.split()
                if what == b"blob" and mode == b"100644":
                    self._blobs[name.decode("utf-8", "replace")] = blob.decode()
        return sorted(self._blobs)

    def read(self, name: str) -> bytes:
        """A segment."""
        blob = self._blobs[name]
        if int(self._git("cat-file", "-s", blob)) > MAX_BYTES:
            return b""  # not a segment, and not worth the memory
        return self._git("cat-file", "blob", blob)

    def add(self, segments: list[bytes]) -> list[str] | None:
        """Add segments in one commit and push it; None if another machine was faster."""
        new = {new_name(): self._stored(content) for content in segments}
        entries = {**self._blobs, **new}
        listing = "".join(f"100644 blob {blob}\t{name}\0" for name, blob in sorted(entries.items()))
        tree = self._git("mktree", "-z", content=listing.encode()).decode().strip()
        parent = ("-p", self._tip) if self._tip else ()
        commit = self._git("commit-tree", tree, *parent, "-m", "Ringbolt sync").decode().strip()
        try:
            # The lease makes it a compare-and-swap: it fails if the ref is not what we have seen.
            git(
                "push", "--quiet", "--no-verify", f"--force-with-lease={REF}:{self._tip}", "--",
                self.name, f"{commit}:{REF}",
                folder=self._cache,
            )  # fmt: skip
        except GitFailed as error:
            if self._remote_tip() != self._tip:
                return None
            raise self._failed(error) from None
        self._git("update-ref", REF, commit)
        self._tip, self._blobs = commit, entries
        return list(new)

    def _prepare(self) -> None:
        if not os.path.exists(os.path.join(self._cache, "HEAD")):
            os.makedirs(self._cache, 0o700, exist_ok=True)
            git("init", "--quiet", "--bare", "--template=", ".", folder=self._cache)

    def _stored(self, content: bytes) -> str:
        return self._git("hash-object", "-w", "--stdin", content=content).decode().strip()

    def _remote_tip(self) -> str:
        listed = self._git("ls-remote", "--", self.name, REF).decode().split()
        return listed[0] if listed else ""

    def _has(self, commit: str) -> bool:
        try:
            git("cat-file", "-e", f"{commit}^{{tree}}", folder=self._cache)
        except GitFailed:
            return False
        return True

    def _git(self, *words: str, content: bytes | None = None) -> bytes:
        try:
            return git(*words, folder=self._cache, content=content)
        except GitFailed as error:
            raise self._failed(error) from None

    def _failed(self, error: GitFailed) -> StoreError:
        place = without_credentials(self.name)
        reason = str(error).replace(self.name, place)
        return StoreError(
            "sync_failed",
            f"The git remote {shown(place, 300)} cannot be used: {shown(reason, 300)}.",
            "Check it with `git ls-remote`. What was synced is kept; sync again.",
        )


def without_credentials(url: str) -> str:
    """A URL as it may be shown: without a password, and over HTTP without a user, who is often a token."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not separator or not at:
        return url
    name = "" if "http" in scheme else f"{user.partition(':')[0]}@"
    return f"{scheme}://{name}{host}{slash}{path}"
