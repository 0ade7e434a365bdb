-- Which event a text of the state comes from, so that a reader can be told who wrote it: the name, next
-- step, blockers and attention of a task, its goal, and the title, note and issue of each step.

ALTER TABLE heads ADD COLUMN name_seq BIGINT, ADD COLUMN next_seq BIGINT, ADD COLUMN blockers_seq BIGINT,
  ADD COLUMN attention_seq BIGINT;
ALTER TABLE extras ADD COLUMN goal_seq BIGINT;
ALTER TABLE steps ADD COLUMN title_seq BIGINT, ADD COLUMN note_seq BIGINT, ADD COLUMN issue_seq BIGINT;

-- For all tenants at once: their owner sees every row while it is not forced to look through the policies.
ALTER TABLE heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE extras NO FORCE ROW LEVEL SECURITY;
ALTER TABLE steps NO FORCE ROW LEVEL SECURITY;
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;

CREATE TEMP TABLE said ON COMMIT DROP AS
SELECT e.tenant_id, e.task_id, e.seq, t.key AS part, c.key AS name, c.value AS body
  FROM events e, json_each(e.sets::json) t,
       json_each(CASE WHEN t.key IN ('heads', '+extras', 'extras', '+steps', 'steps') THEN t.value ELSE '{}' END) c
 WHERE e.sets IS NOT NULL;
CREATE INDEX said_by_name ON said(tenant_id, task_id, part, name, seq);
ANALYZE said;

UPDATE heads h SET
  name_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = h.tenant_id AND s.task_id = h.task_id AND part = 'heads' AND s.name = 'name'),
  next_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = h.tenant_id AND s.task_id = h.task_id AND part = 'heads' AND s.name = 'next_step'),
  blockers_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = h.tenant_id AND s.task_id = h.task_id AND part = 'heads' AND s.name = 'blockers'),
  attention_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = h.tenant_id AND s.task_id = h.task_id AND part = 'heads' AND s.name = 'attention');
UPDATE extras x SET
  goal_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = x.tenant_id AND s.task_id = x.task_id
                 AND part IN ('+extras', 'extras') AND s.name = 'goal');
UPDATE steps t SET
  title_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = t.tenant_id AND s.task_id = t.task_id AND s.name = t.item_id
                  AND (part = '+steps' OR (part = 'steps' AND s.body -> 'title' IS NOT NULL))),
  note_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = t.tenant_id AND s.task_id = t.task_id AND s.name = t.item_id
                 AND part IN ('+steps', 'steps') AND s.body -> 'note' IS NOT NULL),
  issue_seq = (SELECT max(seq) FROM said s WHERE s.tenant_id = t.tenant_id AND s.task_id = t.task_id AND s.name = t.item_id
                  AND part IN ('+steps', 'steps') AND s.body -> 'active_issue' IS NOT NULL);

ALTER TABLE heads FORCE ROW LEVEL SECURITY;
ALTER TABLE extras FORCE ROW LEVEL SECURITY;
ALTER TABLE steps FORCE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
