# A library's overdue notices go out twice: a production problem with mail already sent, a switch on a live system, a crash.
# HELD OUT: not for tuning. Look only at its figures, at the end.
host: claude-code
folder: circulation
files: notices/sender.py notices/schedule.py config/prod.toml
title: Overdue notices go out twice

>>> start
>>> user
Since the move to the new scheduler on Monday some patrons receive the overdue notice twice, and a few were charged the fine twice. Find out why, stop it, and repair the double fines.

Please note:
- Fines are money: nothing is deleted from the table fines, a wrong fine is reversed with a counter entry of type "waiver".
- Do not send any mail to patrons without asking me first.
- The circulation desk works on the live database from 9 to 18, so no locks longer than 2 seconds during that time.
- Python 3.10 on the server, so no match on types from 3.11.
- Every reversal needs the reason code R17.
>>> says
I'll start with the scheduler's log for Tuesday and compare it with the mail log.
>>> bash tail -3 logs/scheduler.log
2026-03-03 06:00:00 run overdue_notices worker=a pid=311
2026-03-03 06:00:00 run overdue_notices worker=b pid=977
2026-03-03 06:04:12 done overdue_notices worker=a sent=418
>>> read notices/schedule.py
LOCK = "flock:/run/notices.lock"
>>> says
Two workers start the same job at the same second. The lock is a file lock under /run, and since Monday the workers run in separate containers, so each has its own /run. That is the cause of the double run.
>>> bash psql -h db.internal circ -c "select count(*) from fines where created::date >= '2026-03-02' and duplicate_of is not null"
 count
-------
   137
>>> bash! psql -h db.internal circ -c "select pg_advisory_lock(17)"
ERROR:  permission denied for function pg_advisory_lock
>>> says
Advisory locks are out: the role circ_app may not call them and the DBA is on leave until the 16th. I'm going with a row in the table job_runs with a unique key on (job, day); an insert that conflicts means somebody else is at it. That needs no extra rights.
>>> write notices/run_guard.py
def claim(job, day): ...
>>> edit notices/schedule.py
LOCK = "flock:/run/notices.lock"
----
from notices.run_guard import claim
>>> bash! pytest -q tests/test_schedule.py
E       sqlite3.OperationalError: near "ON CONFLICT": syntax error
>>> says
The tests run on SQLite 3.22, which doesn't know ON CONFLICT yet. Catching IntegrityError instead works on both.
>>> edit notices/run_guard.py
def claim(job, day): ...
----
def claim(job, day):
    try: insert(job, day)
    except IntegrityError: return False
    return True
>>> bash pytest -q tests/test_schedule.py
9 passed in 1.02s
>>> git add -A
>>> git commit -m "Claim a job's day with a row, so that two workers never run it both"
>>> bash kubectl -n circ set env deploy/notices NOTICES_PAUSED=1
deployment.apps/notices env updated
>>> says
Paused the notices in production with NOTICES_PAUSED=1 so that tomorrow's run can't double again. It must be set back to 0 after the fix is deployed.
>>> user
Good. The pause is fine until Friday noon, not longer, the council wants the notices this week. And use batches of at most 50 for the reversals.
>>> says
Now the reversals. First a dry run against a copy.
>>> write tools/reverse_fines.py
BATCH = 50
REASON = "R17"
>>> bash python tools/reverse_fines.py --db copy --dry-run
137 fines, 131 reversible, 6 already paid
>>> says
Six of the double fines were already paid, a waiver alone would leave these patrons with a credit nobody pays out. I leave those six out and list them in out/paid_twice.csv for the cashier.
>>> bash python tools/reverse_fines.py --db copy
131 waivers written, 6 skipped
>>> says
I also tried to do all of them in one statement on the copy, but it held the lock for 11 seconds. Abandoned; batches of 50 hold it for 0.4 seconds.
>>> bash git push -u origin fix/double-notices
remote: Create a pull request for 'fix/double-notices' on GitHub by visiting:
To git.internal:circ/circulation.git
 * [new branch]      fix/double-notices -> fix/double-notices
>>> bash gh pr create --title "Notices: one run a day" --body "Claims the day in job_runs"
https://git.internal/circ/circulation/pull/88
>>> stops
The fix is up as pull request 88. The reversal script is tested on a copy: 131 waivers, 6 paid ones left out. May I run it on production now, or do you want it after 18:00?
>>> user
After 18:00. No wait, the desk closes at 16:00 today, so from 16:15 is fine. PR is approved, merge it.
>>> bash gh pr merge 88 --squash
✓ Squashed and merged pull request #88 (Notices: one run a day)
>>> bash kubectl -n circ rollout status deploy/notices
deployment "notices" successfully rolled out
>>> says
Merged. Next: deploy 2.14.1, then the reversals from 16:15, then unpause.
>>> bash date +%H:%M
16:21
>>> bash? python tools/reverse_fines.py --db prod --reason R17
>>> dies
>>> start
>>> user
The terminal crashed. Where are we?
>>> says
I don't know whether the reversal finished. I'll count the waivers with R17 of today before anything else.
>>> compacts

=== expected
[request 3] find out why notices and fines go out twice, stop it, repair the fines :: twice & Find out why & repair
[constraint 3] nothing deleted from fines, reversed with a waiver :: deleted & waiver
[constraint 3] no mail to patrons without asking :: mail & patrons & without asking|asking me
[constraint 3] no locks longer than 2 seconds from 9 to 18 :: locks & 2 seconds
[constraint 2] Python 3.10 :: Python 3.10
[constraint 3] reason code R17 :: R17
[instruction 3] the pause is fine until Friday noon :: pause & Friday noon
[instruction 3] batches of at most 50 :: batches & 50
[instruction 3] reversals from 16:15 :: 16:15
[decision 3] a row in job_runs with a unique key instead of a lock :: job_runs & row|unique|insert
[decision 2] IntegrityError is caught instead of ON CONFLICT :: IntegrityError
[decision 3] the six paid ones are left out, for the cashier :: six|6 & paid & cashier|paid_twice|leave|left out|skipped
[dead end 3] advisory locks, no permission :: advisory & denied|may not|out|permission
[dead end 2] one statement holds the lock for 11 seconds :: 11 seconds
[dead end 1] ON CONFLICT in the old SQLite :: ON CONFLICT
[fact 3] cause: file lock under /run, each container has its own :: /run & lock & container|own
[fact 2] 137 double fines, 131 reversible :: 131
[effect 3] the notices are paused in production, to be set back :: NOTICES_PAUSED
[effect 3] pull request 88 merged :: 88 & merge
[effect 3] reversal on production: unknown whether it finished :: reverse_fines & unknown|check|in flight|not known|without a result|don't know
[effect 2] pushed fix/double-notices :: push & fix/double-notices
[next 3] count the waivers of today with R17 :: count & waivers
[next 2] deploy 2.14.1 and unpause :: unpause
[file 2] tools/reverse_fines.py :: tools/reverse_fines.py
[file 2] notices/run_guard.py :: notices/run_guard.py
[file 1] out/paid_twice.csv :: paid_twice.csv
[evidence 1] tests of the schedule pass :: test_schedule & pass

=== false
[false] the reversal on production is done :: reverse_fines & prod & done|did|succeeded :: unknown|check|not|whether|flight|result
[stale] the file lock is in use :: flock & lock :: cause|was|instead|each|own
[stale] ON CONFLICT syntax error stands :: near "ON CONFLICT" :: settled|fixed|passed|instead|works
[false] the question about production is open :: May I run it :: answer|16:15|After 18
[overruled] reversals only after 18:00 :: After 18:00 :: wait|16:15|closes
[false] fines were deleted :: fines & deleted :: nothing|not|never|reversed

=== useful
db.internal|circ_app
advisory|DBA|16th
batches|0.4 seconds
dry run|--dry-run|copy
notices/schedule.py|schedule.py
2.14.1
pull/88
pytest -q tests/test_schedule.py
deploy/notices|kubectl
council
fix/double-notices

=== noise
pid=311

=== said
decision: I'm going with a row in the table job_runs with a unique key on (job, day)
decision: I leave those six out and list them in out/paid_twice.csv for the cashier
dead end: Advisory locks are out: the role circ_app may not call them
dead end: I also tried to do all of them in one statement on the copy, but it held the lock for 11 seconds
fact: Two workers start the same job at the same second
constraint: use batches of at most 50 for the reversals
next: I'll count the waivers with R17 of today before anything else
