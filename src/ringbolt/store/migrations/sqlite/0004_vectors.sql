-- Vectors of texts, made by whoever searches by meaning: float16 numbers, one vector a piece of a text, by the
-- event's id. All of it can be made anew from the events.

CREATE TABLE vector_models (
  model      INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,          -- with its version: vectors of different models are never compared
  dimensions INTEGER NOT NULL,
  done_from  INTEGER NOT NULL,              -- of the events from this id …
  done_to    INTEGER NOT NULL               -- … to this one none waits for its vectors
);
CREATE TABLE vectors (
  number INTEGER PRIMARY KEY,               -- in the order of writing
  model  INTEGER NOT NULL,
  id     INTEGER NOT NULL,                  -- events.id
  chunk  INTEGER NOT NULL,
  vector BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_event ON vectors(model, id, chunk);
