-- The schema of a Ringbolt store on PostgreSQL: that of ../sqlite, with a tenant first in every key.
--
--   Ledger   `events` is the truth and is only appended to; heads, extras, steps, records, labels, files, links,
--            claims and keys are the state folded from it, written in the same transaction.
--   Derived  past_rows, words, vectors, distilled and learned_patterns can be rebuilt from the events.
--   Work     jobs for the worker, sessions of agents, and what models have cost.
--   Tenants  row-level security on every table.
--   Views    the ledger under the table and column names that other projects use.
--
-- `{words}` is replaced by the best collation of the server for matching words regardless of case.

-- Ledger ---------------------------------------------------------------------------------------------

CREATE TABLE origins (                      -- who wrote an event; the id is a hash of the content
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  principal TEXT COLLATE "C" NOT NULL,
  agent     TEXT COLLATE "C" NOT NULL,
  channel   TEXT COLLATE "C" NOT NULL,                -- user, agent, tool, web, import, system
  session   TEXT COLLATE "C" NOT NULL,
  claimed   TEXT COLLATE "C" NOT NULL DEFAULT '',     -- of an import: the channel that the file names
  PRIMARY KEY (tenant_id, id)
);

CREATE TABLE heads (                        -- one row per task; short columns, because every event rewrites it
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id        TEXT COLLATE "C" NOT NULL,
  root_id        TEXT COLLATE "C" NOT NULL,           -- seeds the hash chain; differs from task_id only after a conflict
  last_seq       BIGINT NOT NULL,
  last_hash      BYTEA NOT NULL,
  position       BIGINT NOT NULL,                     -- events.id of the last event: the order of lists
  version        BIGINT NOT NULL,                     -- seq of the last event that set a column of this row
  kind           TEXT COLLATE "C" NOT NULL,
  name           TEXT COLLATE {words} NOT NULL,
  status         TEXT COLLATE "C" NOT NULL,
  phase          TEXT COLLATE "C" NOT NULL,
  reason         TEXT COLLATE "C",
  attention      TEXT COLLATE "C",
  next_step      TEXT COLLATE "C",
  blockers       TEXT COLLATE "C",                    -- JSON list
  done           BIGINT NOT NULL DEFAULT 0,
  total          BIGINT NOT NULL DEFAULT 0,
  current_item   TEXT COLLATE "C",
  next_item      TEXT COLLATE "C",
  plan_version   BIGINT NOT NULL DEFAULT 0,
  plan_seq       BIGINT,
  workspace_path TEXT COLLATE "C",
  repository     TEXT COLLATE "C",
  session_id     TEXT COLLATE "C",
  focus          BIGINT NOT NULL DEFAULT 0,           -- the highest in a session is its current task
  parent_id      TEXT COLLATE "C",
  finish_seq     BIGINT,
  messages       BIGINT NOT NULL DEFAULT 0,
  actions        BIGINT NOT NULL DEFAULT 0,
  name_seq       BIGINT,                              -- the events that set name, next_step, blockers and attention:
  next_seq       BIGINT,                              -- views show who wrote each text
  blockers_seq   BIGINT,
  attention_seq  BIGINT,
  status_seq     BIGINT,
  user_seq       BIGINT NOT NULL DEFAULT 0,                  -- the last event with which the user set a text of the task or its plan
  created_at     TEXT COLLATE "C" NOT NULL,
  updated_at     TEXT COLLATE "C" NOT NULL,
  plan_generated_at    TEXT COLLATE "C",
  replanned_at         TEXT COLLATE "C",
  execution_started_at TEXT COLLATE "C",
  synthesis_started_at TEXT COLLATE "C",
  completed_at   TEXT COLLATE "C",
  archived_at    TEXT COLLATE "C",
  PRIMARY KEY (tenant_id, task_id)
);
CREATE INDEX heads_by_status ON heads(tenant_id, status, position);
CREATE INDEX heads_by_workspace ON heads(tenant_id, workspace_path, status, position);
CREATE INDEX heads_by_session ON heads(tenant_id, session_id, focus) WHERE session_id IS NOT NULL;
CREATE INDEX heads_by_parent ON heads(tenant_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE extras (                       -- long or rarely changed columns of a task
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id       TEXT COLLATE "C" NOT NULL,
  goal          TEXT COLLATE "C",
  context       TEXT COLLATE "C",                     -- JSON
  acceptance    TEXT COLLATE "C",                     -- JSON list
  approval_mode TEXT COLLATE "C" NOT NULL DEFAULT 'auto',
  callback_url  TEXT COLLATE "C",
  goal_seq      BIGINT,                               -- the event that set goal
  callback_seq  BIGINT,                               -- the event that set callback_url: one from an import is never called
  metadata      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON object
  PRIMARY KEY (tenant_id, task_id)
);

CREATE TABLE events (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id             BIGINT GENERATED BY DEFAULT AS IDENTITY,
  task_id        TEXT COLLATE "C" NOT NULL,
  seq            BIGINT NOT NULL,
  event_type     TEXT COLLATE "C" NOT NULL,
  timestamp      TEXT COLLATE "C" NOT NULL,
  item_id        TEXT COLLATE "C",
  ref_seq        BIGINT,                              -- the event this one is about, such as the action of a log
  text           TEXT COLLATE "C",
  data           TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON object: what happened
  sets           TEXT COLLATE "C",                    -- JSON object: the state rows it changed
  origin_id      BIGINT NOT NULL,
  correlation_id TEXT COLLATE "C" NOT NULL DEFAULT '',
  hash           BYTEA NOT NULL,                      -- of the previous hash and this event
  forgotten      BYTEA,                               -- digest of the content, once that was forgotten
  PRIMARY KEY (tenant_id, task_id, seq)
);
CREATE INDEX events_by_id ON events(tenant_id, id);
CREATE INDEX events_by_type ON events(tenant_id, task_id, event_type, seq);
CREATE INDEX events_by_ref ON events(tenant_id, task_id, ref_seq) WHERE ref_seq IS NOT NULL;
CREATE INDEX events_by_time ON events(tenant_id, timestamp) INCLUDE (id);
CREATE INDEX events_by_correlation ON events(tenant_id, correlation_id) WHERE correlation_id <> '';

CREATE TABLE steps (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id      TEXT COLLATE "C" NOT NULL,
  item_id      TEXT COLLATE "C" NOT NULL,
  ordinal      BIGINT NOT NULL,
  title        TEXT COLLATE "C" NOT NULL,
  status       TEXT COLLATE "C" NOT NULL,
  stage        TEXT COLLATE "C",
  basis        TEXT COLLATE "C",                      -- explicit, inferred
  evidence     TEXT COLLATE "C",                      -- reported, verified
  cause_seq    BIGINT,
  note         TEXT COLLATE "C",
  active_issue TEXT COLLATE "C",
  depends_on   TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  detail       TEXT COLLATE "C" NOT NULL DEFAULT '{}',
  plan_version BIGINT NOT NULL,
  dropped_in   BIGINT,                                -- the plan version that dropped it (a tombstone)
  replaced_by  TEXT COLLATE "C",
  started_at   TEXT COLLATE "C",
  completed_at TEXT COLLATE "C",
  duration_seconds DOUBLE PRECISION,
  title_seq    BIGINT,                                -- the events that set title, note and active_issue
  note_seq     BIGINT,
  issue_seq    BIGINT,
  version      BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, task_id, item_id)
);

CREATE TABLE records (                      -- what can change about an event: the status of an action, entry or effect
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id  TEXT COLLATE "C" NOT NULL,
  seq      BIGINT NOT NULL,
  type     TEXT COLLATE "C" NOT NULL,
  status   TEXT COLLATE "C" NOT NULL,
  item_id  TEXT COLLATE "C",
  key      TEXT COLLATE "C",                          -- a variable's name, an effect's or exclusion's signature
  ref_seq  BIGINT,                                    -- the event that ended, settled or replaced it
  ended_at TEXT COLLATE "C",
  version  BIGINT NOT NULL,
  channel  TEXT COLLATE "C" NOT NULL,                 -- of the event
  PRIMARY KEY (tenant_id, task_id, seq)
);
CREATE INDEX records_by_type ON records(tenant_id, task_id, type, status, seq);
CREATE INDEX records_by_key ON records(tenant_id, task_id, type, key, seq) WHERE key IS NOT NULL;
CREATE INDEX records_by_item ON records(tenant_id, task_id, item_id, type, status, seq) WHERE item_id IS NOT NULL;
CREATE INDEX records_of_user ON records(tenant_id, task_id, type, status, seq) WHERE channel = 'user';
CREATE INDEX records_proposed ON records(tenant_id, task_id, seq) WHERE status = 'proposed';

CREATE TABLE labels (                       -- tags, and the steps an entry matters for; seq 0 is the task itself
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id TEXT COLLATE "C" NOT NULL,
  seq     BIGINT NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,                  -- tag, item, label, word (a tag that nobody gave)
  value   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, task_id, kind, value, seq)
);
CREATE INDEX labels_by_value ON labels(tenant_id, kind, value);
CREATE INDEX labels_by_seq ON labels(tenant_id, task_id, seq);

CREATE TABLE files (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id TEXT COLLATE "C" NOT NULL,
  path    TEXT COLLATE "C" NOT NULL,
  change  TEXT COLLATE "C" NOT NULL,                  -- created, modified, deleted, undone
  seq     BIGINT NOT NULL,
  at      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, task_id, path)
);
CREATE INDEX files_by_seq ON files(tenant_id, task_id, seq);

CREATE TABLE links (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  target  TEXT COLLATE "C" NOT NULL,
  seq     BIGINT NOT NULL,
  status  TEXT COLLATE "C" NOT NULL DEFAULT 'active',
  PRIMARY KEY (tenant_id, task_id, kind, target)
);
CREATE INDEX links_by_target ON links(tenant_id, target, kind);

CREATE TABLE claims (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id    TEXT COLLATE "C" NOT NULL,
  item_id    TEXT COLLATE "C" NOT NULL,               -- empty: the whole task
  holder     TEXT COLLATE "C" NOT NULL,
  token      BIGINT NOT NULL,
  status     TEXT COLLATE "C" NOT NULL,               -- held, released
  reason     TEXT COLLATE "C",
  expires_at TEXT COLLATE "C" NOT NULL,               -- heartbeats move it without an event
  PRIMARY KEY (tenant_id, task_id, item_id)
);

CREATE TABLE keys (                         -- idempotency: the first result of each keyed call
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id   TEXT COLLATE "C" NOT NULL,
  key       TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  arguments TEXT COLLATE "C" NOT NULL,
  seq       BIGINT NOT NULL,
  result    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, task_id, key)
);
CREATE INDEX keys_by_key ON keys(tenant_id, key);

ALTER TABLE events ADD FOREIGN KEY (tenant_id, origin_id) REFERENCES origins;
ALTER TABLE events ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE extras ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE steps ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE records ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE labels ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE files ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE links ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE claims ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;
ALTER TABLE keys ADD FOREIGN KEY (tenant_id, task_id) REFERENCES heads;

-- Derived --------------------------------------------------------------------------------------------

-- The full-text index, by event id. It stores which terms occur in which event, not the text itself.
CREATE TABLE words (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  terms     TSVECTOR NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX words_by_term ON words USING gin(terms);
CREATE TABLE words_missing (                -- events that `reindex` has not indexed again yet
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id        BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

-- Embeddings for search by meaning, one vector per chunk of an event's text. With the extension pgvector (0.7 or
-- newer) the column becomes a halfvec and the server compares; without it, or without the right to create
-- it, it stays a bytea of float16 numbers and the client compares. `reindex` checks again. There is no index
-- by distance: it would find the nearest of all rows and then filter, where we want the nearest that match.
CREATE TABLE vector_models (
  tenant_id  TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  model      INTEGER NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,               -- with its version; vectors of different models are never compared
  dimensions INTEGER NOT NULL,
  done_from  BIGINT NOT NULL,                         -- every event from this id …
  done_to    BIGINT NOT NULL,                         -- … to this one has its vectors
  PRIMARY KEY (tenant_id, model),
  UNIQUE (tenant_id, name)
);
CREATE TABLE vectors (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  number    BIGINT GENERATED BY DEFAULT AS IDENTITY,  -- order of insertion
  model     INTEGER NOT NULL,
  id        BIGINT NOT NULL,                          -- events.id
  chunk     SMALLINT NOT NULL,
  vector    BYTEA NOT NULL,
  PRIMARY KEY (tenant_id, model, id, chunk)
);
CREATE INDEX vectors_by_number ON vectors(tenant_id, model, number);

CREATE TABLE past_rows (                    -- state rows that an event replaced: any past state can be read from them
  tenant_id  TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id    TEXT COLLATE "C" NOT NULL,
  table_name TEXT COLLATE "C" NOT NULL,
  row_key    TEXT COLLATE "C" NOT NULL,               -- what identifies the row within the task
  since      BIGINT NOT NULL,                         -- the event that set the row so …
  until      BIGINT NOT NULL,                         -- … and the one that replaced it
  content    TEXT COLLATE "C",                        -- JSON object; NULL: the row did not exist
  PRIMARY KEY (tenant_id, task_id, table_name, row_key, until)
);
CREATE INDEX past_rows_by_time ON past_rows(tenant_id, task_id, table_name, until, since);

CREATE TABLE distilled (                    -- derived from the events, one row per kind; can be rebuilt
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  task_id   TEXT COLLATE "C" NOT NULL,
  kind      TEXT COLLATE "C" NOT NULL,                -- progress, names, extraction, summary
  seq       BIGINT NOT NULL,                          -- the last event it covers
  at        TEXT COLLATE "C" NOT NULL,
  state     TEXT COLLATE "C" NOT NULL,                -- JSON object of bounded size, enough to continue from seq
  PRIMARY KEY (tenant_id, task_id, kind)
);

CREATE TABLE learned_patterns (
  tenant_id TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id           BIGINT GENERATED BY DEFAULT AS IDENTITY,
  pattern_type TEXT COLLATE "C" NOT NULL,
  pattern_key  TEXT COLLATE "C" NOT NULL,
  repository   TEXT COLLATE "C" NOT NULL DEFAULT '',
  data         TEXT COLLATE "C" NOT NULL,
  frequency    BIGINT NOT NULL DEFAULT 1,
  last_seen    TEXT COLLATE "C" NOT NULL,
  created_at   TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, pattern_type, pattern_key, repository)
);

-- Work -----------------------------------------------------------------------------------------------

CREATE TABLE jobs (                         -- work for the background worker; finished jobs are deleted
  tenant_id   TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  id          BIGINT GENERATED BY DEFAULT AS IDENTITY,
  kind        TEXT COLLATE "C" NOT NULL,
  task_id     TEXT COLLATE "C" NOT NULL,              -- empty: not about a task
  key         TEXT COLLATE "C" NOT NULL,              -- unique with kind and task
  data        TEXT COLLATE "C" NOT NULL,              -- JSON object
  status      TEXT COLLATE "C" NOT NULL,              -- waiting, leased, dead
  attempts    BIGINT NOT NULL,
  due_at      TEXT COLLATE "C" NOT NULL,              -- when it may run; while leased, when the lease ends
  token       BIGINT NOT NULL,                        -- incremented with each lease; late workers get stale_token
  holder      TEXT COLLATE "C",
  error       TEXT COLLATE "C",
  created_at  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, kind, task_id, key)
);
CREATE INDEX jobs_by_due ON jobs(tenant_id, status, due_at);

CREATE TABLE sessions (                     -- sessions of agents, as the hooks of their hosts report them
  tenant_id      TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  session_id     TEXT COLLATE "C" NOT NULL,
  host           TEXT COLLATE "C" NOT NULL,
  machine        TEXT COLLATE "C" NOT NULL,           -- the boot of the machine that it runs on
  process        TEXT COLLATE "C" NOT NULL,           -- the host's process: its id and when it started
  workspace_path TEXT COLLATE "C",
  mode           TEXT COLLATE "C" NOT NULL,           -- the host's permission mode, such as plan
  turn           TEXT COLLATE "C" NOT NULL,           -- working, waiting for the user, interrupted; empty: not known
  at_work        TEXT COLLATE "C" NOT NULL,           -- JSON list: background work that has not reported yet
  interruption   TEXT COLLATE "C",                    -- JSON object: why the last turn broke off
  started_at     TEXT COLLATE "C" NOT NULL,
  seen_at        TEXT COLLATE "C" NOT NULL,
  ended_at       TEXT COLLATE "C",
  taken          TEXT COLLATE "C",                    -- JSON object: another session took its task, and it must be told
  PRIMARY KEY (tenant_id, session_id)
);
CREATE INDEX sessions_by_process ON sessions(tenant_id, process) WHERE process <> '';
CREATE INDEX sessions_by_workspace ON sessions(tenant_id, workspace_path, seen_at);

CREATE TABLE folder_tasks (                 -- the task that the user chose for a folder, where no session has one
  tenant_id      TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  workspace_path TEXT COLLATE "C" NOT NULL,
  task_id        TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, workspace_path)
);

CREATE TABLE spending (                     -- sums of the model.used events, for budgets
  tenant_id  TEXT COLLATE "C" NOT NULL DEFAULT current_setting('ringbolt.tenant') CHECK (tenant_id <> ''),
  day        TEXT COLLATE "C" NOT NULL,
  task_id    TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,
  calls      BIGINT NOT NULL,
  tokens_in  BIGINT NOT NULL,
  tokens_out BIGINT NOT NULL,
  cost       DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (tenant_id, day, task_id, model)
);
CREATE INDEX spending_by_task ON spending(tenant_id, task_id);

-- Tenants --------------------------------------------------------------------------------------------

-- A connection sees and writes only the rows of the tenant that its transaction names; FORCE binds the owner
-- of the tables too. Only a superuser is exempt, and the library refuses to run as one. The owner could change
-- that, so the application has a role of its own, which may neither alter nor drop anything.
DO $$
DECLARE name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['origins', 'heads', 'extras', 'events', 'steps', 'records', 'labels', 'files',
                              'links', 'claims', 'keys', 'learned_patterns', 'words', 'words_missing', 'vector_models',
                              'vectors', 'past_rows', 'distilled', 'jobs', 'sessions', 'folder_tasks', 'spending'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = current_setting(''ringbolt.tenant'', true))'
                   ' WITH CHECK (tenant_id = current_setting(''ringbolt.tenant'', true))', name);
  END LOOP;
END $$;

-- `words` has the same policy, and a function for searching it. A policy is checked before any operator that is not
-- leakproof, and `@@` is not, so under the policy no search could use the index. The function runs as the owner of
-- the tables, who may read all of `words`, and gives out only ids of the tenant that the transaction names. The role
-- of an application is not the owner (`ringbolt store grant`), so it cannot read the terms of other tenants at all.
-- (Distances of vectors are only sorted by, never a condition, so `vectors` needs no such thing.)
CREATE POLICY searching ON words FOR SELECT TO CURRENT_USER USING (true);

-- The newest events with the wanted terms. EXECUTE plans for the terms at hand: a plan for any term would be wrong
-- for most. The terms are those of one tenant (each begins with its key), so the index reads no others.
DO $$
BEGIN
  EXECUTE format($definition$
    CREATE FUNCTION words_matching(wanted TSQUERY, low BIGINT, high BIGINT, most BIGINT) RETURNS SETOF BIGINT
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = %I, pg_temp AS $body$
    BEGIN
      RETURN QUERY EXECUTE 'SELECT w.id FROM words w WHERE w.tenant_id = current_setting(''ringbolt.tenant'', true)'
        ' AND w.terms @@ $1 AND w.id BETWEEN $2 AND $3 ORDER BY w.id DESC LIMIT $4' USING wanted, low, high, most;
    END $body$
  $definition$, current_schema());
END $$;
REVOKE ALL ON FUNCTION words_matching FROM PUBLIC;

-- Views ----------------------------------------------------------------------------------------------

CREATE VIEW tasks WITH (security_invoker = true) AS
SELECT h.task_id AS id, h.name, coalesce(x.goal, e.text, h.name COLLATE "C") AS goal, x.context, h.workspace_path,
       h.status, h.phase, h.reason, h.attention,
       (SELECT coalesce(json_agg(json_build_object('id', s.item_id, 'title', s.title, 'status', s.status,
                                                   'depends_on', s.depends_on::json) ORDER BY s.ordinal), '[]')::text
          FROM steps s WHERE s.task_id = h.task_id AND s.dropped_in IS NULL) AS plan,
       h.created_at, h.updated_at, h.completed_at, x.approval_mode, x.callback_url, x.metadata,
       h.parent_id, h.session_id, h.archived_at, e.text AS request
  FROM heads h
  JOIN extras x ON x.task_id = h.task_id
  JOIN events e ON e.task_id = h.task_id AND e.seq = 1;

CREATE VIEW plan_items WITH (security_invoker = true) AS      -- the plan as it is; the source has no word for a cancelled step
SELECT task_id || '/' || item_id AS id, task_id, ordinal, title,
       CASE status WHEN 'cancelled' THEN 'skipped' ELSE status END AS status, started_at, completed_at,
       duration_seconds, item_id, stage, basis, evidence, note, active_issue, depends_on
  FROM steps WHERE dropped_in IS NULL;

CREATE VIEW dropped_plan_items WITH (security_invoker = true) AS      -- steps that a later plan left out
SELECT task_id || '/' || item_id AS id, task_id, ordinal, title, status, started_at, completed_at,
       duration_seconds, item_id, stage, dropped_in, replaced_by
  FROM steps WHERE dropped_in IS NOT NULL;

CREATE VIEW actions WITH (security_invoker = true) AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id || '/' || r.item_id AS plan_item_id, r.task_id,
       (e.data::json ->> 'type') AS action_type, e.text AS summary, r.status,
       coalesce((f.data::json -> 'input')::text, (e.data::json -> 'input')::text) AS input_data,
       coalesce((f.data::json -> 'output')::text, (e.data::json -> 'output')::text) AS output_data,
       e.timestamp AS created_at, r.ended_at,
       coalesce((f.data::json ->> 'tool'), (e.data::json ->> 'tool')) AS tool_name,
       coalesce((f.data::json -> 'error')::text, (e.data::json -> 'error')::text) AS error
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'action.ended'
 WHERE r.type = 'action' AND r.status <> 'invalidated';

CREATE VIEW action_logs WITH (security_invoker = true) AS
SELECT task_id || '#' || seq AS id, task_id || '#' || ref_seq AS action_id,
       (data::json ->> 'type') AS log_type, text AS content, timestamp AS created_at
  FROM events WHERE event_type = 'log';

CREATE VIEW task_messages WITH (security_invoker = true) AS
SELECT e.task_id || '#' || e.seq AS id, e.task_id,
       CASE WHEN e.event_type LIKE 'wait.%' OR o.channel = 'system' THEN 'system'
            WHEN o.channel = 'user' THEN 'user'
            -- The text of a registration is the user's request, whoever passed it on, unless a tool made it.
            WHEN e.event_type = 'task.registered' AND e.text IS NOT NULL AND o.channel IN ('agent', 'import')
            THEN 'user'
            ELSE 'agent' END AS role,
       coalesce(e.text,
                CASE WHEN e.event_type = 'task.registered' THEN 'Task registered: ' || (h.name COLLATE "C")
                     WHEN e.event_type = 'plan.replaced' THEN 'The plan was replaced'
                     WHEN e.event_type = 'plan.appended' THEN 'Steps were added to the plan'
                     WHEN e.event_type = 'step.updated'
                     THEN (SELECT s.title FROM steps s WHERE s.task_id = e.task_id AND s.item_id = e.item_id)
                          || ': ' || coalesce(e.sets::json #>> ARRAY['steps', e.item_id, 'status'], 'changed')
                     WHEN e.event_type IN ('task.updated', 'task.finished')
                     THEN 'Task: ' || coalesce(e.sets::json #>> '{heads,status}', 'changed') END,
                e.event_type) AS content,
       CASE WHEN e.event_type = 'message' THEN 'text'
            WHEN e.event_type LIKE 'plan.%' THEN 'plan'
            WHEN e.event_type LIKE 'wait.%' THEN 'wait'
            WHEN e.event_type = 'task.stuck' THEN 'stuck'
            WHEN e.event_type IN ('step.updated', 'task.updated') THEN 'progress'
            ELSE 'lifecycle' END AS msg_type,
       e.timestamp AS created_at, o.channel
  FROM events e JOIN origins o ON o.id = e.origin_id JOIN heads h ON h.task_id = e.task_id
 WHERE e.event_type IN ('message', 'task.registered', 'task.updated', 'task.finished', 'task.stuck',
                        'step.updated', 'plan.replaced', 'plan.appended', 'wait.started', 'wait.ended');

CREATE VIEW wait_jobs WITH (security_invoker = true) AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id, (e.data::json ->> 'target_type') AS target_type,
       (e.data::json ->> 'target') AS target_id, (coalesce(u.data, e.data)::json ->> 'until') AS criteria,
       (coalesce(u.data, e.data)::json ->> 'timeout')::double precision AS timeout_seconds,
       (e.data::json ->> 'poll_interval')::double precision AS poll_interval, r.status, (f.data::json ->> 'result') AS result_message,
       e.timestamp AS created_at, r.ended_at AS resolved_at
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events u ON u.task_id = r.task_id
       AND u.seq = (SELECT max(x.seq) FROM events x WHERE x.task_id = r.task_id AND x.ref_seq = r.seq
                       AND x.event_type = 'wait.updated')
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'wait.ended'
 WHERE r.type = 'wait';

CREATE VIEW memory_entries WITH (security_invoker = true) AS
SELECT e.id, e.task_id, e.item_id AS subtask_id, e.timestamp, r.type AS entry_type,
       CASE WHEN r.type = 'decision' AND (e.data::json ->> 'title') <> (e.data::json ->> 'choice')
            THEN (e.data::json ->> 'title') || ': ' || (e.data::json ->> 'choice') ELSE e.text END AS summary,
       coalesce((e.data::json ->> 'detail'), nullif(CASE r.type
         WHEN 'decision' THEN concat_ws(chr(10), (e.data::json ->> 'reasoning'), 'Options: ' || (e.data::json ->> 'options'),
              'Risks: ' || (e.data::json ->> 'risks'), 'If wrong: ' || (e.data::json ->> 'if_wrong'),
              'Context: ' || (e.data::json ->> 'context'))
         WHEN 'exclusion' THEN concat_ws(chr(10), (e.data::json ->> 'why'), 'Symptom: ' || (e.data::json ->> 'symptom'))
         WHEN 'error' THEN 'Resolution: ' || (e.data::json ->> 'resolution') END, '')) AS detail,
       -- Where nobody gave tags, the names and words that the entry itself uses.
       coalesce((SELECT string_agg(value, ',' ORDER BY value) FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'tag'),
        (SELECT string_agg(value, ',' ORDER BY value) FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'word')) AS tags,
       coalesce((SELECT string_agg(value, ',' ORDER BY value) FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'item'), e.item_id) AS relevance_to,
       e.timestamp AS created_at, r.status, e.seq, e.data
  FROM records r JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
 WHERE r.type IN ('decision', 'error', 'tool_result', 'user_instruction', 'discovery', 'artifact',
                  'context', 'exclusion', 'variable', 'question');

CREATE VIEW execution_log WITH (security_invoker = true) AS
SELECT e.timestamp,
       coalesce((f.data::json ->> 'stage'), (e.data::json ->> 'stage'), s.stage) AS stage,
       coalesce((f.data::json ->> 'sub_task_id'), (e.data::json ->> 'sub_task_id')) AS sub_task_id,
       e.text AS step_narrative,
       coalesce((f.data::json ->> 'tool'), (e.data::json ->> 'tool'),
                CASE (e.data::json ->> 'type') WHEN 'system' THEN 'System' END) AS tool_name,
       CASE WHEN (e.data::json ->> 'type') = 'system' AND r.status = 'failed' THEN 'SYSTEM_ERROR'
            WHEN (e.data::json ->> 'type') = 'system' THEN 'SYSTEM_ACTION'
            ELSE upper(r.status) END AS status,
       coalesce((f.data::json -> 'input')::text, (e.data::json -> 'input')::text) AS input_payload,
       coalesce((f.data::json -> 'output')::text, (e.data::json -> 'output')::text) AS result_data,
       coalesce((f.data::json -> 'error')::text, (e.data::json -> 'error')::text) AS error_info,
       coalesce((f.data::json ->> 'duration_ms'), (e.data::json ->> 'duration_ms'))::double precision AS duration_ms,
       e.task_id, e.seq
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN steps s ON s.task_id = r.task_id AND s.item_id = r.item_id
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'action.ended'
 WHERE r.type = 'action' AND r.status NOT IN ('started', 'invalidated');
