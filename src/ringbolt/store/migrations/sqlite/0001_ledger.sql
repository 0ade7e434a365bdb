-- The schema of a Ringbolt store on SQLite; ../postgres has the same tables with a tenant in every key.
--
--   Ledger   `events` is the truth and is only appended to; heads, extras, steps, records, labels, files, links,
--            claims and keys are the state folded from it, written in the same transaction.
--   Derived  past_rows, words, vectors, distilled and learned_patterns can be rebuilt from the events.
--   Work     jobs for the worker, sessions of agents, and what models have cost.
--   Views    the ledger under the table and column names that other projects use.

-- Ledger ---------------------------------------------------------------------------------------------

CREATE TABLE origins (                      -- who wrote an event; the id is a hash of the content
  id        INTEGER PRIMARY KEY,
  principal TEXT NOT NULL,
  agent     TEXT NOT NULL,
  channel   TEXT NOT NULL,                  -- user, agent, tool, web, import, system
  session   TEXT NOT NULL,
  claimed   TEXT NOT NULL DEFAULT ''        -- of an import: the channel that the file names
);

CREATE TABLE heads (                        -- one row per task; short columns, because every event rewrites it
  task_id        TEXT PRIMARY KEY,
  root_id        TEXT NOT NULL,             -- seeds the hash chain; differs from task_id only after a conflict
  last_seq       INTEGER NOT NULL,
  last_hash      BLOB NOT NULL,
  position       INTEGER NOT NULL,          -- events.id of the last event: the order of lists
  version        INTEGER NOT NULL,          -- seq of the last event that set a column of this row
  kind           TEXT NOT NULL,
  name           TEXT NOT NULL,
  status         TEXT NOT NULL,
  phase          TEXT NOT NULL,
  reason         TEXT,
  attention      TEXT,
  next_step      TEXT,
  blockers       TEXT,                      -- JSON list
  done           INTEGER NOT NULL DEFAULT 0,
  total          INTEGER NOT NULL DEFAULT 0,
  current_item   TEXT,
  next_item      TEXT,
  plan_version   INTEGER NOT NULL DEFAULT 0,
  plan_seq       INTEGER,
  workspace_path TEXT,
  repository     TEXT,
  session_id     TEXT,
  focus          INTEGER NOT NULL DEFAULT 0, -- the highest in a session is its current task
  parent_id      TEXT,
  finish_seq     INTEGER,
  messages       INTEGER NOT NULL DEFAULT 0,
  actions        INTEGER NOT NULL DEFAULT 0,
  name_seq       INTEGER,                   -- the events that set name, next_step, blockers and attention:
  next_seq       INTEGER,                   -- views show who wrote each text
  blockers_seq   INTEGER,
  attention_seq  INTEGER,
  status_seq     INTEGER,
  user_seq       INTEGER NOT NULL DEFAULT 0,         -- the last event with which the user set a text of the task or its plan
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  plan_generated_at    TEXT,
  replanned_at         TEXT,
  execution_started_at TEXT,
  synthesis_started_at TEXT,
  completed_at   TEXT,
  archived_at    TEXT
) WITHOUT ROWID;
CREATE INDEX heads_by_status ON heads(status, position);
CREATE INDEX heads_by_workspace ON heads(workspace_path, status, position);
CREATE INDEX heads_by_session ON heads(session_id, focus) WHERE session_id IS NOT NULL;
CREATE INDEX heads_by_parent ON heads(parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE extras (                       -- long or rarely changed columns of a task
  task_id       TEXT PRIMARY KEY REFERENCES heads(task_id),
  goal          TEXT,
  context       TEXT,                       -- JSON
  acceptance    TEXT,                       -- JSON list
  approval_mode TEXT NOT NULL DEFAULT 'auto',
  callback_url  TEXT,
  goal_seq      INTEGER,                    -- the event that set goal
  callback_seq  INTEGER,                    -- the event that set callback_url: one from an import is never called
  metadata      TEXT NOT NULL DEFAULT '{}'  -- JSON object
) WITHOUT ROWID;

CREATE TABLE events (
  id             INTEGER PRIMARY KEY,
  task_id        TEXT NOT NULL REFERENCES heads(task_id),
  seq            INTEGER NOT NULL,
  event_type     TEXT NOT NULL,
  timestamp      TEXT NOT NULL,
  item_id        TEXT,
  ref_seq        INTEGER,                   -- the event this one is about, such as the action of a log
  text           TEXT,
  data           TEXT NOT NULL DEFAULT '{}', -- JSON object: what happened
  sets           TEXT,                      -- JSON object: the state rows it changed
  origin_id      INTEGER NOT NULL REFERENCES origins(id),
  correlation_id TEXT NOT NULL DEFAULT '',
  hash           BLOB NOT NULL,             -- of the previous hash and this event
  forgotten      BLOB                       -- digest of the content, once that was forgotten
);
CREATE UNIQUE INDEX events_by_task ON events(task_id, seq);
CREATE INDEX events_by_type ON events(task_id, event_type, seq);
CREATE INDEX events_by_ref ON events(task_id, ref_seq) WHERE ref_seq IS NOT NULL;
CREATE INDEX events_by_time ON events(timestamp);
CREATE INDEX events_by_correlation ON events(correlation_id) WHERE correlation_id <> '';

CREATE TABLE steps (
  task_id      TEXT NOT NULL REFERENCES heads(task_id),
  item_id      TEXT NOT NULL,
  ordinal      INTEGER NOT NULL,
  title        TEXT NOT NULL,
  status       TEXT NOT NULL,
  stage        TEXT,
  basis        TEXT,                        -- explicit, inferred
  evidence     TEXT,                        -- reported, verified
  cause_seq    INTEGER,
  note         TEXT,
  active_issue TEXT,
  depends_on   TEXT NOT NULL DEFAULT '[]',
  detail       TEXT NOT NULL DEFAULT '{}',
  plan_version INTEGER NOT NULL,
  dropped_in   INTEGER,                     -- the plan version that dropped it (a tombstone)
  replaced_by  TEXT,
  started_at   TEXT,
  completed_at TEXT,
  duration_seconds REAL,
  title_seq    INTEGER,                     -- the events that set title, note and active_issue
  note_seq     INTEGER,
  issue_seq    INTEGER,
  version      INTEGER NOT NULL,
  PRIMARY KEY (task_id, item_id)
) WITHOUT ROWID;

CREATE TABLE records (                      -- what can change about an event: the status of an action, entry or effect
  task_id  TEXT NOT NULL REFERENCES heads(task_id),
  seq      INTEGER NOT NULL,
  type     TEXT NOT NULL,
  status   TEXT NOT NULL,
  item_id  TEXT,
  key      TEXT,                            -- a variable's name, an effect's or exclusion's signature
  ref_seq  INTEGER,                         -- the event that ended, settled or replaced it
  ended_at TEXT,
  version  INTEGER NOT NULL,
  channel  TEXT NOT NULL,                   -- of the event
  PRIMARY KEY (task_id, seq)
) WITHOUT ROWID;
CREATE INDEX records_by_type ON records(task_id, type, status, seq);
CREATE INDEX records_by_key ON records(task_id, type, key, seq) WHERE key IS NOT NULL;
CREATE INDEX records_by_item ON records(task_id, item_id, type, status, seq) WHERE item_id IS NOT NULL;
CREATE INDEX records_of_user ON records(task_id, type, status, seq) WHERE channel = 'user';
CREATE INDEX records_proposed ON records(task_id, seq) WHERE status = 'proposed';

CREATE TABLE labels (                       -- tags, and the steps an entry matters for; seq 0 is the task itself
  task_id TEXT NOT NULL REFERENCES heads(task_id),
  seq     INTEGER NOT NULL,
  kind    TEXT NOT NULL,                    -- tag, item, label, word (a tag that nobody gave)
  value   TEXT NOT NULL,
  PRIMARY KEY (task_id, kind, value, seq)
) WITHOUT ROWID;
CREATE INDEX labels_by_value ON labels(kind, value);
CREATE INDEX labels_by_seq ON labels(task_id, seq);

CREATE TABLE files (
  task_id TEXT NOT NULL REFERENCES heads(task_id),
  path    TEXT NOT NULL,
  change  TEXT NOT NULL,                    -- created, modified, deleted, undone
  seq     INTEGER NOT NULL,
  at      TEXT NOT NULL,
  PRIMARY KEY (task_id, path)
) WITHOUT ROWID;
CREATE INDEX files_by_seq ON files(task_id, seq);

CREATE TABLE links (
  task_id TEXT NOT NULL REFERENCES heads(task_id),
  kind    TEXT NOT NULL,
  target  TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  status  TEXT NOT NULL DEFAULT 'active',
  PRIMARY KEY (task_id, kind, target)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links(target, kind);

CREATE TABLE claims (
  task_id    TEXT NOT NULL REFERENCES heads(task_id),
  item_id    TEXT NOT NULL,                 -- empty: the whole task
  holder     TEXT NOT NULL,
  token      INTEGER NOT NULL,
  status     TEXT NOT NULL,                 -- held, released
  reason     TEXT,
  expires_at TEXT NOT NULL,                 -- heartbeats move it without an event
  PRIMARY KEY (task_id, item_id)
) WITHOUT ROWID;

CREATE TABLE keys (                         -- idempotency: the first result of each keyed call
  task_id   TEXT NOT NULL REFERENCES heads(task_id),
  key       TEXT NOT NULL,
  operation TEXT NOT NULL,
  arguments TEXT NOT NULL,
  seq       INTEGER NOT NULL,
  result    TEXT NOT NULL,
  PRIMARY KEY (task_id, key)
) WITHOUT ROWID;
CREATE INDEX keys_by_key ON keys(key);

-- Derived --------------------------------------------------------------------------------------------

CREATE TABLE past_rows (                    -- state rows that an event replaced: any past state can be read from them
  task_id    TEXT NOT NULL,
  table_name TEXT NOT NULL,
  row_key    TEXT NOT NULL,                 -- what identifies the row within the task
  since      INTEGER NOT NULL,              -- the event that set the row so …
  until      INTEGER NOT NULL,              -- … and the one that replaced it
  content    TEXT,                          -- JSON object; NULL: the row did not exist
  PRIMARY KEY (task_id, table_name, row_key, until)
) WITHOUT ROWID;
CREATE INDEX past_rows_by_time ON past_rows(task_id, table_name, until, since);

-- The full-text index, by event id. It stores which words occur in which event, not the text itself.
CREATE VIRTUAL TABLE words USING fts5(
  body, content='', contentless_delete=1, detail=none,
  tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TABLE words_mark (
  up_to INTEGER NOT NULL                    -- events.id the index has reached; searches scan later events directly
);
INSERT INTO words_mark (up_to) VALUES (0);

-- Embeddings for search by meaning: float16 vectors, one per chunk of an event's text.
CREATE TABLE vector_models (
  model      INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,          -- with its version; vectors of different models are never compared
  dimensions INTEGER NOT NULL,
  done_from  INTEGER NOT NULL,              -- every event from this id …
  done_to    INTEGER NOT NULL               -- … to this one has its vectors
);
CREATE TABLE vectors (
  number INTEGER PRIMARY KEY,               -- order of insertion
  model  INTEGER NOT NULL,
  id     INTEGER NOT NULL,                  -- events.id
  chunk  INTEGER NOT NULL,
  vector BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_event ON vectors(model, id, chunk);

CREATE TABLE distilled (                    -- derived from the events, one row per kind; can be rebuilt
  task_id TEXT NOT NULL,
  kind    TEXT NOT NULL,                    -- progress, names, extraction, summary
  seq     INTEGER NOT NULL,                 -- the last event it covers
  at      TEXT NOT NULL,
  state   TEXT NOT NULL,                    -- JSON object of bounded size, enough to continue from seq
  PRIMARY KEY (task_id, kind)
) WITHOUT ROWID;

CREATE TABLE learned_patterns (
  id           INTEGER PRIMARY KEY,
  pattern_type TEXT NOT NULL,               -- subtask_success, model_failure, prompt_effective
  pattern_key  TEXT NOT NULL,
  repository   TEXT NOT NULL DEFAULT '',    -- where it was learned; empty: outside any repository
  data         TEXT NOT NULL,
  frequency    INTEGER NOT NULL DEFAULT 1,
  last_seen    TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  UNIQUE (pattern_type, pattern_key, repository)
);

-- Work -----------------------------------------------------------------------------------------------

CREATE TABLE jobs (                         -- work for the background worker; finished jobs are deleted
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL,
  task_id     TEXT NOT NULL,                -- empty: not about a task
  key         TEXT NOT NULL,                -- unique with kind and task
  data        TEXT NOT NULL,                -- JSON object
  status      TEXT NOT NULL,                -- waiting, leased, dead
  attempts    INTEGER NOT NULL,
  due_at      TEXT NOT NULL,                -- when it may run; while leased, when the lease ends
  token       INTEGER NOT NULL,             -- incremented with each lease; late workers get stale_token
  holder      TEXT,
  error       TEXT,
  created_at  TEXT NOT NULL,
  UNIQUE (kind, task_id, key)
);
CREATE INDEX jobs_by_due ON jobs(status, due_at);

CREATE TABLE sessions (                     -- sessions of agents, as the hooks of their hosts report them
  session_id     TEXT PRIMARY KEY,
  host           TEXT NOT NULL,
  machine        TEXT NOT NULL,             -- the boot of the machine that it runs on
  process        TEXT NOT NULL,             -- the host's process: its id and when it started
  workspace_path TEXT,
  mode           TEXT NOT NULL,             -- the host's permission mode, such as plan
  turn           TEXT NOT NULL,             -- working, waiting for the user, interrupted; empty: not known
  at_work        TEXT NOT NULL,             -- JSON list: background work that has not reported yet
  interruption   TEXT,                      -- JSON object: why the last turn broke off
  started_at     TEXT NOT NULL,
  seen_at        TEXT NOT NULL,
  ended_at       TEXT,
  taken          TEXT                       -- JSON object: another session took its task, and it must be told
) WITHOUT ROWID;
CREATE INDEX sessions_by_process ON sessions(process) WHERE process <> '';
CREATE INDEX sessions_by_workspace ON sessions(workspace_path, seen_at);

CREATE TABLE folder_tasks (                 -- the task that the user chose for a folder, where no session has one
  workspace_path TEXT PRIMARY KEY,
  task_id        TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE spending (                     -- sums of the model.used events, for budgets
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

-- Views ----------------------------------------------------------------------------------------------

CREATE VIEW tasks AS
SELECT h.task_id AS id, h.name, coalesce(x.goal, e.text, h.name) AS goal, x.context, h.workspace_path,
       h.status, h.phase, h.reason, h.attention,
       (SELECT json_group_array(json_object('id', s.item_id, 'title', s.title, 'status', s.status,
                                            'depends_on', json(s.depends_on)))
          FROM (SELECT * FROM steps WHERE task_id = h.task_id AND dropped_in IS NULL ORDER BY ordinal) s) AS plan,
       h.created_at, h.updated_at, h.completed_at, x.approval_mode, x.callback_url, x.metadata,
       h.parent_id, h.session_id, h.archived_at, e.text AS request
  FROM heads h
  JOIN extras x ON x.task_id = h.task_id
  JOIN events e ON e.task_id = h.task_id AND e.seq = 1;

CREATE VIEW plan_items AS      -- the plan as it is; the source has no word for a cancelled step
SELECT task_id || '/' || item_id AS id, task_id, ordinal, title,
       CASE status WHEN 'cancelled' THEN 'skipped' ELSE status END AS status, started_at, completed_at,
       duration_seconds, item_id, stage, basis, evidence, note, active_issue, depends_on
  FROM steps WHERE dropped_in IS NULL;

CREATE VIEW dropped_plan_items AS      -- steps that a later plan left out
SELECT task_id || '/' || item_id AS id, task_id, ordinal, title, status, started_at, completed_at,
       duration_seconds, item_id, stage, dropped_in, replaced_by
  FROM steps WHERE dropped_in IS NOT NULL;

CREATE VIEW actions AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id || '/' || r.item_id AS plan_item_id, r.task_id,
       json_extract(e.data, '$.type') AS action_type, e.text AS summary, r.status,
       coalesce(f.data -> '$.input', e.data -> '$.input') AS input_data,
       coalesce(f.data -> '$.output', e.data -> '$.output') AS output_data,
       e.timestamp AS created_at, r.ended_at,
       coalesce(json_extract(f.data, '$.tool'), json_extract(e.data, '$.tool')) AS tool_name,
       coalesce(f.data -> '$.error', e.data -> '$.error') AS error
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'action.ended'
 WHERE r.type = 'action' AND r.status <> 'invalidated';

CREATE VIEW action_logs AS
SELECT task_id || '#' || seq AS id, task_id || '#' || ref_seq AS action_id,
       json_extract(data, '$.type') AS log_type, text AS content, timestamp AS created_at
  FROM events WHERE event_type = 'log';

CREATE VIEW task_messages AS
SELECT e.task_id || '#' || e.seq AS id, e.task_id,
       CASE WHEN e.event_type LIKE 'wait.%' OR o.channel = 'system' THEN 'system'
            WHEN o.channel = 'user' THEN 'user'
            -- The text of a registration is the user's request, whoever passed it on, unless a tool made it.
            WHEN e.event_type = 'task.registered' AND e.text IS NOT NULL AND o.channel IN ('agent', 'import')
            THEN 'user'
            ELSE 'agent' END AS role,
       coalesce(e.text,
                CASE WHEN e.event_type = 'task.registered' THEN 'Task registered: ' || h.name
                     WHEN e.event_type = 'plan.replaced' THEN 'The plan was replaced'
                     WHEN e.event_type = 'plan.appended' THEN 'Steps were added to the plan'
                     WHEN e.event_type = 'step.updated'
                     THEN (SELECT s.title FROM steps s WHERE s.task_id = e.task_id AND s.item_id = e.item_id)
                          || ': ' || coalesce(json_extract(e.sets, '$.steps."' || e.item_id || '".status'), 'changed')
                     WHEN e.event_type IN ('task.updated', 'task.finished')
                     THEN 'Task: ' || coalesce(json_extract(e.sets, '$.heads.status'), 'changed') END,
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

CREATE VIEW wait_jobs AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id, json_extract(e.data, '$.target_type') AS target_type,
       json_extract(e.data, '$.target') AS target_id,
       json_extract(coalesce(u.data, e.data), '$.until') AS criteria,
       json_extract(coalesce(u.data, e.data), '$.timeout') AS timeout_seconds,
       json_extract(e.data, '$.poll_interval') AS poll_interval, r.status, json_extract(f.data, '$.result') AS result_message,
       e.timestamp AS created_at, r.ended_at AS resolved_at
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events u ON u.task_id = r.task_id
       AND u.seq = (SELECT max(x.seq) FROM events x WHERE x.task_id = r.task_id AND x.ref_seq = r.seq
                       AND x.event_type = 'wait.updated')
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'wait.ended'
 WHERE r.type = 'wait';

CREATE VIEW memory_entries AS
SELECT e.id, e.task_id, e.item_id AS subtask_id, e.timestamp, r.type AS entry_type,
       CASE WHEN r.type = 'decision' AND json_extract(e.data, '$.title') <> json_extract(e.data, '$.choice')
            THEN json_extract(e.data, '$.title') || ': ' || json_extract(e.data, '$.choice') ELSE e.text END AS summary,
       coalesce(json_extract(e.data, '$.detail'), nullif(CASE r.type
         WHEN 'decision' THEN trim(coalesce(json_extract(e.data, '$.reasoning') || char(10), '') ||
              coalesce('Options: ' || json_extract(e.data, '$.options') || char(10), '') ||
              coalesce('Risks: ' || json_extract(e.data, '$.risks') || char(10), '') ||
              coalesce('If wrong: ' || json_extract(e.data, '$.if_wrong') || char(10), '') ||
              coalesce('Context: ' || json_extract(e.data, '$.context') || char(10), ''), char(10))
         WHEN 'exclusion' THEN trim(coalesce(json_extract(e.data, '$.why') || char(10), '') ||
              coalesce('Symptom: ' || json_extract(e.data, '$.symptom') || char(10), ''), char(10))
         WHEN 'error' THEN 'Resolution: ' || json_extract(e.data, '$.resolution') END, '')) AS detail,
       -- Where nobody gave tags, the names and words that the entry itself uses.
       coalesce((SELECT group_concat(value, ',') FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'tag'),
        (SELECT group_concat(value, ',') FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'word')) AS tags,
       coalesce((SELECT group_concat(value, ',') FROM labels l
         WHERE l.task_id = r.task_id AND l.seq = r.seq AND l.kind = 'item'), e.item_id) AS relevance_to,
       e.timestamp AS created_at, r.status, e.seq, e.data
  FROM records r JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
 WHERE r.type IN ('decision', 'error', 'tool_result', 'user_instruction', 'discovery', 'artifact',
                  'context', 'exclusion', 'variable', 'question');

CREATE VIEW execution_log AS
SELECT e.timestamp,
       coalesce(json_extract(f.data, '$.stage'), json_extract(e.data, '$.stage'), s.stage) AS stage,
       coalesce(json_extract(f.data, '$.sub_task_id'), json_extract(e.data, '$.sub_task_id')) AS sub_task_id,
       e.text AS step_narrative,
       coalesce(json_extract(f.data, '$.tool'), json_extract(e.data, '$.tool'),
                CASE json_extract(e.data, '$.type') WHEN 'system' THEN 'System' END) AS tool_name,
       CASE WHEN json_extract(e.data, '$.type') = 'system' AND r.status = 'failed' THEN 'SYSTEM_ERROR'
            WHEN json_extract(e.data, '$.type') = 'system' THEN 'SYSTEM_ACTION'
            ELSE upper(r.status) END AS status,
       coalesce(f.data -> '$.input', e.data -> '$.input') AS input_payload,
       coalesce(f.data -> '$.output', e.data -> '$.output') AS result_data,
       coalesce(f.data -> '$.error', e.data -> '$.error') AS error_info,
       coalesce(json_extract(f.data, '$.duration_ms'), json_extract(e.data, '$.duration_ms')) AS duration_ms,
       e.task_id, e.seq
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN steps s ON s.task_id = r.task_id AND s.item_id = r.item_id
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'action.ended'
 WHERE r.type = 'action' AND r.status NOT IN ('started', 'invalidated');

-- Planner statistics ---------------------------------------------------------------------------------

-- Tasks can be long. Without statistics SQLite assumes about ten rows per task and scans the whole task where
-- an index would do. Fixed figures also give the same query plans in every store.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('records', 'records',         '1000000 10000 1'),
  ('records', 'records_by_type', '1000000 10000 2000 200 1'),
  ('records', 'records_by_key',  '100000 1000 200 20 1'),
  ('records', 'records_by_item', '500000 5000 500 200 100 1'),
  ('events', 'events_by_task',   '2000000 20000 1'),
  ('events', 'events_by_type',   '2000000 20000 2000 1'),
  ('events', 'events_by_ref',    '200000 2000 2'),
  ('events', 'events_by_correlation', '20000 20');
ANALYZE sqlite_schema;
