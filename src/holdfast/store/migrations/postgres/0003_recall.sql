-- The full-text index: the terms of each event, by the event's id. It holds no text, only which terms are in
-- which event; all of it can be made anew from the events.
--
-- This table has no policy: a policy must be checked before any operator that is not leakproof, and `@@` is
-- none, so that no index could be used. Instead the tenant is one of the terms, which every search asks for;
-- and what is found is read from `events`, which has a policy.

CREATE TABLE words (
  id    BIGINT PRIMARY KEY,
  terms TSVECTOR NOT NULL
);
CREATE INDEX words_by_term ON words USING gin(terms);
CREATE INDEX events_by_time ON events(tenant_id, timestamp) INCLUDE (id);

CREATE TABLE words_missing (                -- events from before there was an index
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('holdfast.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
INSERT INTO words_missing (tenant_id, id) SELECT tenant_id, id FROM events;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
ALTER TABLE words_missing ENABLE ROW LEVEL SECURITY;
ALTER TABLE words_missing FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON words_missing USING (tenant_id = current_setting('holdfast.tenant', true))
  WITH CHECK (tenant_id = current_setting('holdfast.tenant', true));
