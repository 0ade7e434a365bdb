-- Waits as they are now: a wait that was changed is shown with what it was changed to.

DROP VIEW IF EXISTS wait_jobs;
CREATE VIEW wait_jobs AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id, json_extract(e.data, '$.target_type') AS target_type,
       json_extract(e.data, '$.target') AS target_id,
       json_extract(coalesce(u.data, e.data), '$.until') AS criteria,
       json_extract(coalesce(u.data, e.data), '$.timeout') AS timeout_seconds,
       json_extract(e.data, '$.poll_interval') AS poll_interval, r.status, f.text AS result_message,
       e.timestamp AS created_at, r.ended_at AS resolved_at
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events u ON u.task_id = r.task_id
       AND u.seq = (SELECT max(x.seq) FROM events x WHERE x.task_id = r.task_id AND x.ref_seq = r.seq
                       AND x.event_type = 'wait.updated')
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'wait.ended'
 WHERE r.type = 'wait';

-- What Ringbolt itself writes, in no session, is no sign that anyone works on a task: it does not count for
-- `updated_at`. The first event of a task always does.
UPDATE heads SET updated_at = coalesce(
         (SELECT e.timestamp FROM events e JOIN origins o ON o.id = e.origin_id
           WHERE e.task_id = heads.task_id AND e.event_type <> 'model.used'
             AND NOT (o.agent = 'ringbolt' AND o.session = '')
           ORDER BY e.seq DESC LIMIT 1), created_at)
 WHERE task_id IN (SELECT e.task_id FROM events e JOIN origins o ON o.id = e.origin_id
                    WHERE o.agent = 'ringbolt' AND o.session = '');
