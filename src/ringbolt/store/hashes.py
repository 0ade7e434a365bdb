"""The hash chain of a task: each event's hash covers the previous hash, its header and its content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.types import Origin
from ..model.validate import blake2b


def origin_id(origin: Origin) -> int:
    """The id of an origin, derived from its content: the same in every store."""
    parts = (origin.principal, origin.agent, origin.channel, origin.session)
    content = "\0".join(parts if not origin.claimed else (*parts, origin.claimed))
    return int.from_bytes(blake2b(content.encode(), digest_size=8).digest(), "big") >> 1


def first_link(root_id: str) -> bytes:
    """The start of a task's chain: the previous hash of its first event."""
    return blake2b(root_id.encode(), digest_size=16).digest()


def content_digest(event: Mapping[str, Any]) -> bytes:
    """The digest of an event's content; it is kept when the content itself is forgotten."""
    content = f"{event['text'] or ''}\0{event['data']}\0{event['sets'] or ''}"
    return blake2b(content.encode(), digest_size=16).digest()


def event_hash(previous: bytes, event: Mapping[str, Any]) -> bytes:
    """The hash of an event.

    The content goes in as a digest. A forgotten event keeps its digest, so it still hashes to the same value
    and the chain stays intact.
    """
    header = (
        f"{event['seq']}\0{event['event_type']}\0{event['timestamp']}\0{event['item_id'] or ''}\0"
        f"{event['ref_seq'] or ''}\0{event['origin_id']}\0{event['correlation_id']}"
    )
    digest = event["forgotten"] or content_digest(event)
    return blake2b(previous + digest + header.encode(), digest_size=16).digest()
