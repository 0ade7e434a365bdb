# A nightly data pipeline in Scala: late events, a skewed join, a partition that must not be rewritten, a plan file.
# Read once before any tuning (.35 and .97 of the items at 500 and 1,500 tokens); may be used for tuning since.
host: claude-code
folder: event-rollup
files: build.sbt conf/rollup.conf src/main/scala/rollup/Sessions.scala
title: The nightly rollup loses late events

>>> start
>>> user
The nightly rollup drops events that arrive after 02:00 UTC, finance sees about 3 % less revenue than the shop. Please make it pick up events that are up to 48 hours late. Partitions older than 2024-01 are closed by the auditors and must never be rewritten. We run Spark 3.4 on the shared cluster, at most 40 executors. The output schema must stay as it is because the dashboard reads it. The rollup has to finish before 05:30.
>>> says
I'll look at how the job picks its input first.
>>> read src/main/scala/rollup/Rollup.scala
object Rollup {
  def run(day: LocalDate): Unit = {
    val events = spark.read.parquet(s"s3://events/day=$day")
    val rolled = events.groupBy("shop", "hour").agg(sum("amount").as("amount"))
    rolled.write.mode("overwrite").partitionBy("day").parquet("s3://rollup")
  }
}
>>> bash sbt "testOnly rollup.RollupSpec"
[info] RollupSpec:
[info] - sums the amounts of an hour
[info] All tests passed.
>>> says
The job reads the partition of the arrival day only. An event of the 3rd that arrives on the 4th lands in day=04 and is rolled up under the wrong day, so the loss is really a shift.
>>> bash! sbt run
[error] java.lang.OutOfMemoryError: Java heap space
[error] (Compile / run) Nonzero exit code: 1
>>> bash JAVA_OPTS=-Xmx4g sbt "run --day 2024-03-04 --dry-run"
[info] read 48112034 rows
[info] would write 24 partitions
>>> says
Locally it needs JAVA_OPTS=-Xmx4g.
>>> write docs/plan.md
# Plan: late events

## Steps

1. Read the partitions of the last three arrival days (`Rollup.scala`)
2. Group by event time instead of arrival day (`Rollup.scala`)
3. Salt the join with the sessions, which is skewed (`Sessions.scala`)
4. Refuse to write partitions before 2024-02-01 (`Guard.scala`)
5. Backfill 2024-02 to today, one day at a time (`backfill.sh`)
6. Compare with finance's figures for March (`Compare.scala`)
>>> edit src/main/scala/rollup/Rollup.scala
    val events = spark.read.parquet(s"s3://events/day=$day")
----
    val days = (0 to 2).map(n => day.minusDays(n))
    val events = spark.read.parquet(days.map(d => s"s3://events/day=$d"): _*)
>>> edit src/main/scala/rollup/Rollup.scala
groupBy("shop", "hour")
----
groupBy($"shop", date_trunc("hour", $"event_time").as("hour"))
>>> bash sbt "testOnly rollup.RollupSpec"
[info] - sums the amounts of an hour
[info] - puts a late event into its own hour
[info] All tests passed.
>>> says
Both reading and grouping are done. Watermarks in Structured Streaming would be the textbook answer, but the cluster has no checkpoint storage for us, so I stay with the batch job that reads three days again.
>>> git checkout -b late-events
>>> git add -A && git commit -q -m "Roll up by event time over three arrival days" && git log --oneline -1
>>> user
fine. one thing: don't use dynamic partition overwrite, ops turned it off cluster-wide after the incident in autumn
>>> says
OK, then I write to a staging prefix and swap the partitions with the commit script. Now the salted join in Sessions.scala.
>>> edit src/main/scala/rollup/Sessions.scala
object Sessions {
----
object Sessions {
  def salted(left: DataFrame, right: DataFrame): DataFrame =
    left.withColumn("salt", (rand() * 16).cast("int")).join(right, Seq("shop", "salt"))
>>> bash! sbt "testOnly rollup.SessionsSpec"
[info] - joins every event with its session *** FAILED ***
[info]   48112 did not equal 769792 (SessionsSpec.scala:31)
>>> says
Rows are multiplied by 16 where the right side is not exploded: the salt has to be on both sides.
>>> edit src/main/scala/rollup/Sessions.scala
    left.withColumn("salt", (rand() * 16).cast("int")).join(right, Seq("shop", "salt"))
----
    left.withColumn("salt", (rand() * 16).cast("int"))
      .join(right.withColumn("salt", explode(sequence(lit(0), lit(15)))), Seq("shop", "salt"))
>>> bash sbt "testOnly rollup.SessionsSpec"
[info] - joins every event with its session
[info] All tests passed.
>>> says
A broadcast join was the first thing I tried to avoid the skew, and it does not work here: the sessions table is 9 GB and the driver dies.
>>> write src/main/scala/rollup/Guard.scala
object Guard {
  val closed: LocalDate = LocalDate.of(2024, 2, 1)
  def check(day: LocalDate): Unit = require(!day.isBefore(closed), s"$day is closed")
}
>>> bash sbt test
[info] Passed: Total 31, Failed 0, Errors 0, Passed 31
>>> git add -A && git commit -q -m "Salt the session join, refuse closed partitions" && git log --oneline -1
>>> bash git push -u origin late-events
 * [new branch]      late-events -> late-events
>>> bash gh pr create --title "Roll up late events" --body "Reads three arrival days" --base main
https://github.com/acme/event-rollup/pull/412
>>> user
looks good, Mehmet reviews it. Start the backfill on staging only, production needs his approval first
>>> write backfill.sh
for day in $(seq_days 2024-02-01 today); do spark-submit --num-executors 40 --class rollup.Backfill app.jar --day "$day" --env "$1"; done
>>> bash bash backfill.sh staging
2024-02-01 ok 24 partitions
2024-02-02 ok 24 partitions
2024-02-03 ok 24 partitions
stopped by quota: 3 of 62 days
>>> says
The staging quota stopped the backfill after 3 of 62 days, it continues on 2024-02-04. The namespace is rollup-stg, quota 200 GB. I'll raise it with the platform team? Their form needs an owner, so that is a question for you: who owns the rollup-stg quota?
>>> user
Ines does, I've asked her. go on with the comparison meanwhile
>>> says
Next I'll write Compare.scala against finance's March export, tolerance 0.1 %.
>>> write src/main/scala/rollup/Compare.scala
object Compare {
  val tolerance = 0.001
}
>>> compacts

=== expected
[request 3] pick up events up to 48 hours late :: 48 & late
[constraint 3] partitions older than 2024-01 must never be rewritten :: 2024-01 & closed|never|auditors
[constraint 2] at most 40 executors :: 40 & executors
[constraint 3] the output schema must stay :: schema & stay|dashboard
[constraint 2] finish before 05:30 :: 05:30
[instruction 3] no dynamic partition overwrite :: dynamic & overwrite
[instruction 3] backfill on staging only, production needs Mehmet's approval :: staging & production & approval
[instruction 2] Ines owns the quota and was asked :: Ines
[decision 3] batch over three days instead of Structured Streaming, no checkpoint storage :: batch|stay & streaming|checkpoint
[decision 2] staging prefix and swap with the commit script :: staging & prefix|swap
[dead end 3] broadcast join: sessions table is 9 GB, the driver dies :: broadcast & 9|driver
[fact 2] the salt must be on both sides :: salt & both|multiplied
[fact 2] the loss is a shift to the wrong day :: shift|wrong & day
[blocker 2] the quota stopped the backfill after 3 of 62 days :: 3 of 62|quota
[progress 3] backfill continues on 2024-02-04 :: 2024-02-04|3 of 62
[progress 2] reading and grouping, salting and guard are done :: guard|refuse|closed & done|completed|~|commit|salt
[effect 3] pull request 412 is open :: 412
[effect 2] the branch was pushed :: push & late-events
[value 2] local runs need -Xmx4g :: Xmx4g
[value 1] namespace rollup-stg, 200 GB :: rollup-stg
[value 2] tolerance 0.1 % :: tolerance|0.1
[next 3] Compare.scala against finance's March export :: Compare & finance|march|comparison
[value 2] sbt test :: sbt & test
[worktree 2] branch late-events :: branch & late-events
[worktree 2] backfill.sh and Compare.scala are not committed :: Compare.scala & uncommitted|not committed|!
[file 1] Guard.scala :: Guard.scala

=== false
[settled] the session join fails :: did not equal|joins every event :: settled|fixed|edited|passed|instead
[false] the backfill is done :: backfill & done|completed|finished :: 3 of 62|stopped|not|only|continue|before
[false] the broadcast join is used :: broadcast & use|keep|decided :: not|avoid|dies
[false] production was backfilled :: backfill.sh & production :: staging|only|approval
[settled] sbt run fails for want of memory :: OutOfMemory :: Xmx4g|settled|instead
[false] streaming with watermarks was chosen :: watermarks & use|chosen|stay :: would|but|no

=== useful
Rollup.scala|Sessions.scala|31
event_time
docs/plan.md

=== noise
48112034

=== said
decision: so I stay with the batch job that reads three days again
decision: then I write to a staging prefix and swap the partitions with the commit script
dead end: A broadcast join was the first thing I tried to avoid the skew, and it does not work here
fact: Rows are multiplied by 16 where the right side is not exploded
constraint: don't use dynamic partition overwrite
constraint: production needs his approval first
next: Next I'll write Compare.scala against finance's March export
