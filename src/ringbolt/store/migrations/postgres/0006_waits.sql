-- Waits as they are now: a wait that was changed is shown with what it was changed to.

DROP VIEW IF EXISTS wait_jobs;
CREATE VIEW wait_jobs WITH (security_invoker = true) AS
SELECT r.task_id || '#' || r.seq AS id, r.task_id, (e.data::json ->> 'target_type') AS target_type,
       (e.data::json ->> 'target') AS target_id, (coalesce(u.data, e.data)::json ->> 'until') AS criteria,
       (coalesce(u.data, e.data)::json ->> 'timeout')::double precision AS timeout_seconds,
       (e.data::json ->> 'poll_interval')::double precision AS poll_interval, r.status, f.text AS result_message,
       e.timestamp AS created_at, r.ended_at AS resolved_at
  FROM records r
  JOIN events e ON e.task_id = r.task_id AND e.seq = r.seq
  LEFT JOIN events u ON u.task_id = r.task_id
       AND u.seq = (SELECT max(x.seq) FROM events x WHERE x.task_id = r.task_id AND x.ref_seq = r.seq
                       AND x.event_type = 'wait.updated')
  LEFT JOIN events f ON f.task_id = r.task_id AND f.seq = r.ref_seq AND f.event_type = 'wait.ended'
 WHERE r.type = 'wait';

-- What Ringbolt itself writes, in no session, is no sign that anyone works on a task: it does not count for
-- `updated_at`. The first event of a task always does. For all tenants at once, as in 0002.
ALTER TABLE heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE origins NO FORCE ROW LEVEL SECURITY;
UPDATE heads h SET updated_at = coalesce(
         (SELECT e.timestamp FROM events e JOIN origins o ON o.tenant_id = e.tenant_id AND o.id = e.origin_id
           WHERE e.tenant_id = h.tenant_id AND e.task_id = h.task_id AND e.event_type <> 'model.used'
             AND NOT (o.agent = 'ringbolt' AND o.session = '')
           ORDER BY e.seq DESC LIMIT 1), created_at)
 WHERE (h.tenant_id, h.task_id) IN (SELECT e.tenant_id, e.task_id FROM events e
                                      JOIN origins o ON o.tenant_id = e.tenant_id AND o.id = e.origin_id
                                     WHERE o.agent = 'ringbolt' AND o.session = '');
ALTER TABLE heads FORCE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
ALTER TABLE origins FORCE ROW LEVEL SECURITY;
