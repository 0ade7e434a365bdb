-- Vectors of texts, made by whoever searches by meaning: one vector a piece of a text, by the event's id. All
-- of it can be made anew from the events.
--
-- With the extension pgvector (0.7 or newer) the column is a halfvec and the server compares; without it, or
-- without the right to create it, the column is a bytea of float16 numbers and the client compares. `reindex`
-- looks again.
--
-- These tables have a policy like all others. Unlike `@@`, the distance stands in no condition but only in
-- what is sorted and shown, so that it does not matter that its operator is not leakproof. There is no index
-- by distance: it would find the nearest of all and then filter, where we want the nearest that pass.

CREATE TABLE vector_models (
  tenant_id  TEXT COLLATE "C" NOT NULL DEFAULT current_setting('holdfast.tenant') CHECK (tenant_id <> ''),
  model      INTEGER NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,     -- with its version: vectors of different models are never compared
  dimensions INTEGER NOT NULL,
  done_from  BIGINT NOT NULL,               -- of the events from this id …
  done_to    BIGINT NOT NULL,               -- … to this one none waits for its vectors
  PRIMARY KEY (tenant_id, model),
  UNIQUE (tenant_id, name)
);
CREATE TABLE vectors (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('holdfast.tenant') CHECK (tenant_id <> ''),
  number    BIGINT GENERATED ALWAYS AS IDENTITY,   -- in the order of writing
  model     INTEGER NOT NULL,
  id        BIGINT NOT NULL,                -- events.id
  chunk     SMALLINT NOT NULL,
  vector    BYTEA NOT NULL,
  PRIMARY KEY (tenant_id, model, id, chunk)
);
CREATE INDEX vectors_by_number ON vectors(tenant_id, model, number);

ALTER TABLE vector_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE vector_models FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON vector_models USING (tenant_id = current_setting('holdfast.tenant', true))
  WITH CHECK (tenant_id = current_setting('holdfast.tenant', true));
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON vectors USING (tenant_id = current_setting('holdfast.tenant', true))
  WITH CHECK (tenant_id = current_setting('holdfast.tenant', true));
