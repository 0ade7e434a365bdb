-- What is distilled from the events, what waits to be done, and what models have cost.

CREATE TABLE distilled (                    -- all of it can be made anew from the events
  task_id TEXT NOT NULL,
  kind    TEXT NOT NULL,                    -- progress, names, extraction, summary
  seq     INTEGER NOT NULL,                 -- the last event that it covers
  at      TEXT NOT NULL,
  state   TEXT NOT NULL,                    -- JSON object of bounded size: all that is needed to go on from there
  PRIMARY KEY (task_id, kind)
) WITHOUT ROWID;
CREATE TABLE jobs (                         -- a job that is done is gone
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL,
  task_id     TEXT NOT NULL,                -- empty: about no task
  key         TEXT NOT NULL,                -- of the same kind, task and key there is only one
  data        TEXT NOT NULL,                -- JSON object
  status      TEXT NOT NULL,                -- waiting, leased, dead
  attempts    INTEGER NOT NULL,
  due_at      TEXT NOT NULL,                -- when it may be tried; while leased, when the lease ends
  token       INTEGER NOT NULL,             -- one more with each lease: a holder with an older one is too late
  holder      TEXT,
  error       TEXT,
  created_at  TEXT NOT NULL,
  UNIQUE (kind, task_id, key)
);
CREATE INDEX jobs_by_due ON jobs(status, due_at);
CREATE TABLE spending (                     -- sums of the events model.used, for budgets
  day        TEXT NOT NULL,
  task_id    TEXT NOT NULL,
  model      TEXT NOT NULL,
  calls      INTEGER NOT NULL,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost       REAL NOT NULL,
  PRIMARY KEY (day, task_id, model)
) WITHOUT ROWID;
CREATE INDEX spending_by_task ON spending(task_id);
