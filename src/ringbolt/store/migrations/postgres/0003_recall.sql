-- The full-text index: the terms of each event, by the event's id. It holds no text, only which terms are in
-- which event; all of it can be made anew from the events.
--
-- Rows belong to their tenant, and only he changes them. But reading has no policy: it would have to be checked
-- before any operator that is not leakproof, and `@@` is none, so that no index could be used. Instead the
-- tenant is one of the terms, which every search asks for, and what is found is read from `events`, whose
-- policy holds.

CREATE TABLE words (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  terms     TSVECTOR NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX words_by_term ON words USING gin(terms);
CREATE INDEX events_by_time ON events(tenant_id, timestamp) INCLUDE (id);
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE words FORCE ROW LEVEL SECURITY;
CREATE POLICY everyone ON words FOR SELECT USING (true);
CREATE POLICY tenant_insert ON words FOR INSERT
  WITH CHECK (tenant_id = current_setting('ringbolt.tenant', true));
CREATE POLICY tenant_update ON words FOR UPDATE USING (tenant_id = current_setting('ringbolt.tenant', true))
  WITH CHECK (tenant_id = current_setting('ringbolt.tenant', true));
CREATE POLICY tenant_delete ON words FOR DELETE USING (tenant_id = current_setting('ringbolt.tenant', true));

CREATE TABLE words_missing (                -- events from before there was an index
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
INSERT INTO words_missing (tenant_id, id) SELECT tenant_id, id FROM events;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
ALTER TABLE words_missing ENABLE ROW LEVEL SECURITY;
ALTER TABLE words_missing FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON words_missing USING (tenant_id = current_setting('ringbolt.tenant', true))
  WITH CHECK (tenant_id = current_setting('ringbolt.tenant', true));
