-- Which event a text of the state comes from, so that a reader can be told who wrote it: the name, next
-- step, blockers and attention of a task, its goal, and the title, note and issue of each step.

ALTER TABLE heads ADD COLUMN name_seq INTEGER;
ALTER TABLE heads ADD COLUMN next_seq INTEGER;
ALTER TABLE heads ADD COLUMN blockers_seq INTEGER;
ALTER TABLE heads ADD COLUMN attention_seq INTEGER;
ALTER TABLE extras ADD COLUMN goal_seq INTEGER;
ALTER TABLE steps ADD COLUMN title_seq INTEGER;
ALTER TABLE steps ADD COLUMN note_seq INTEGER;
ALTER TABLE steps ADD COLUMN issue_seq INTEGER;

CREATE TEMP TABLE said AS
SELECT e.task_id, e.seq, t.key AS part, c.key AS name, c.value AS body
  FROM events e, json_each(e.sets) t, json_each(t.value) c
 WHERE e.sets IS NOT NULL AND t.key IN ('heads', '+extras', 'extras', '+steps', 'steps');
CREATE INDEX temp.said_by_name ON said(task_id, part, name, seq);

UPDATE heads SET
  name_seq = (SELECT max(seq) FROM said s WHERE s.task_id = heads.task_id AND part = 'heads' AND s.name = 'name'),
  next_seq = (SELECT max(seq) FROM said s WHERE s.task_id = heads.task_id AND part = 'heads' AND s.name = 'next_step'),
  blockers_seq = (SELECT max(seq) FROM said s WHERE s.task_id = heads.task_id AND part = 'heads' AND s.name = 'blockers'),
  attention_seq = (SELECT max(seq) FROM said s WHERE s.task_id = heads.task_id AND part = 'heads' AND s.name = 'attention');
UPDATE extras SET
  goal_seq = (SELECT max(seq) FROM said s WHERE s.task_id = extras.task_id AND part IN ('+extras', 'extras') AND s.name = 'goal');
UPDATE steps SET
  title_seq = (SELECT max(seq) FROM said s WHERE s.task_id = steps.task_id AND s.name = steps.item_id
                  AND (part = '+steps' OR (part = 'steps' AND json_type(s.body, '$.title') IS NOT NULL))),
  note_seq = (SELECT max(seq) FROM said s WHERE s.task_id = steps.task_id AND s.name = steps.item_id
                 AND part IN ('+steps', 'steps') AND json_type(s.body, '$.note') IS NOT NULL),
  issue_seq = (SELECT max(seq) FROM said s WHERE s.task_id = steps.task_id AND s.name = steps.item_id
                  AND part IN ('+steps', 'steps') AND json_type(s.body, '$.active_issue') IS NOT NULL);
DROP TABLE temp.said;
