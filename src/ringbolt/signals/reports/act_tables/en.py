"""English."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="en",
    common=(
        "a an the of to in on at for and or is are was were be been being do does did has have had what"
        " when where who whom which why how with by from as it its it's this that these those i you he she"
        " they we his her their our your my me him them us can could would should will may might about into"
        " than then there here not no all any if so via up out now just also already too only very really"
        " quite well again still yet today tonight yesterday tomorrow morning afternoon evening night noon"
        " week weeks day days hour hours hrs h min mins minute minutes s sec secs second seconds ms january"
        " february march april june july august september october november december ok okay great good fine"
        " nice perfect finally sure please thanks thank hi hello get gets getting make let lets everything"
        " anything something let's i'm i've i'd i'll we're we've we'll we'd that's there's both each every"
        " some more most other another own same new such am after before while during since until over under"
        " between through against off back down away within without took takes pm eur usd euros dollars per"
        " one ones thing things bit lot lots status update fyi progress overnight meanwhile today's"
        " everybody everyone nobody rest"
    ),
    done=(
        "done, finished, complete, are in place, is in place, completed, completes, completion, ready, in"
        " place, wrapped up, wrapped it up, sorted out, sorted, taken care of, out of the way, behind us,"
        " behind me, ticked off, checked off, good to go, all set, is final, are final, took place,"
        " concluded, accomplished, achieved, is over, are over, over with, through with,"
        " is through, are through, closed out,"
        " nailed, nailed it, succeeded, succeeds, successful, successfully, went through, went fine, went"
        " well, went smoothly, went ok, went great, handled, dealt with, it is so, i'm through, is in the"
        " bag, in the can, is history, mission accomplished, is finalised, is finalized, finalised,"
        " finalized, is settled, settled, crossed off, can be ticked, can be checked off, dusted, fully"
        " done, nothing left, nothing left to do, no work left, is a wrap, that's a wrap, that's it,"
        " accounted for, is dealt with, in the bag, squared away, off my list, off the list, ✓, ✔, ✅, ☑,"
        " [x], 100 %, 100%"
    ),
    state=(
        "runs, runs fine, runs again, lives in, sits in, is part of, works, worked, works now, works fine,"
        " is happy, are happy, on order, on board, on file, by heart, in hand, all there, all here, all in,"
        " we take, we do, i take, we go for, go for, we have, we've got, i've got, we got, we're at, i'm"
        " at, am at, we are at, comes to, came to, that covers it, said ok, gave permission, gave the"
        " go-ahead, looks stable, looks great, stable, in the freezer, are all in, is all in, going with,"
        " went with, go with, goes with, is up, are up, is live, are live, live, live now, went live, is"
        " online, online, is out, are out, went out, is in, are in, is off, are off, is there, are there,"
        " exists, exist, stands, stand, is green, are green, green, all green, is clear, are clear, clear"
        " now, is clean, are clean, clean, is fine, are fine, both fine, all fine, is ok, are ok, good"
        " enough, well enough, all ok, ok, looks good, look good, looks right, look right, looks fine,"
        " looks clean, look clean, looks ok, correct, identical, match, matches, agree, agrees, tally,"
        " tallies, passes, passing, pass, compiles, builds, is ours, are ours, is signed, up and running,"
        " is running again, reachable, available, is available, is public, lgtm, is home, is back, is set,"
        " are set, is here, are here, suits, suit, fits, is known, are known, is visible, responds,"
        " answers, returns, is empty, is gone, are gone, is full, is open now, is level, is dry, is sealed,"
        " is fixed, no longer happens, no longer crashes, no longer occurs, no longer there, does it, did"
        " it, does the trick, did the trick, has landed, landed, off to, it is, it's a go, arrives, says"
        " yes, said yes, agreed, is yes, got the ok, got the go-ahead, gave the ok, is a no-go, exit 0,"
        " exit code 0, rc 0, rc=0, 0 errors, 0 failures, 0 warnings, zero errors, zero failures, zero"
        " warnings, no errors, no failures, no warnings, no findings, no issues, no problems, without"
        " errors, without problems, without issues, no complaints, no objections, no differences, no diff,"
        " no leaks, no regressions, no downtime, nothing breaking, nothing broken"
    ),
    all=(
        "all, everything, the whole list, whole list, the entire list, that's everything,"
        " everything else, the rest, all the rest, all steps, all the steps, every step,"
        " all tasks, all items, all of it, all of them, all of the steps, all points, all todos, the whole"
        " plan, whole plan, the plan, the whole thing, the entire plan, entire plan, all remaining steps,"
        " the remaining steps, remaining steps, each step, the whole task, the task, whole task, all the"
        " tasks"
    ),
    begun=(
        "right now, up to, rolling out, started, start, starting, starts, begin, begun, began, beginning,"
        " begins, working on, at work on, work on, on to, moving on, moving on to, move on to, moving to,"
        " turning to, continuing, continue, continuing with, proceeding, proceed, kicked off, kicking off,"
        " currently, in progress, under way, underway, ongoing, busy with, busy, picking up, picked up"
        " where, at it, in the middle of, resuming, resume, resumed, let me, let's, now for, next up,"
        " getting going, getting started, got started, on it, is running, are running, still running,"
        " running now, in the works, being, is being, are being, in flight, is waiting, waiting for,"
        " waiting on, wait for, awaiting, pending, in review, under review, have been at, taking a look,"
        " having a look, looking at, looking into, digging into, attempting, trying, is next, are next,"
        " comes next, time for, time to, first up, back to, back on, going on with, carrying on, carry on,"
        " has it since, is with, are with, min left, minutes left, hours left, is on its way, on its way,"
        " on the way, in the queue, queued"
    ),
    going_on="being, is being, are being, goes on, go on, going on, carries on",
    failed=(
        "failed, fails, failure, failing again, broke, broken, breaks, crashed, crashes, crash again,"
        " error, errors, errored, denied, refused, rejected, declined, turned down, turned us down, turned"
        " me down, turned it down, timeout, timed out, times out, jammed, leaks, leaked, leaking, went"
        " down, down again, is down, are down, flaky, red, stuck, blocked, couldn't, could not, can't,"
        " cannot, unable, impossible, no luck, doesn't work, does not work, didn't work, did not work,"
        " won't work, gave up, giving up, aborted, unsuccessful, went wrong, bounced, hangs, hang, still"
        " hang, out of memory, oom, exit 1, rc 1, rc=1, bailed, conflicts, in conflict, collapsed, fell"
        " through, sold out, unavailable, fully booked, cancelled on us, was cancelled, were cancelled, got"
        " cancelled, postponed, delayed, died, dies, expired, choked, gave out, ran out, cut off, cracked,"
        " refuses, refuse, called in sick,"
        " something's off, something is off, is wrong, looks wrong, looks too, ✗, ✘, ❌"
    ),
    partly=(
        "two thirds, a third, one third, three quarters, a quarter, one half, half, halfway, half way, half"
        " done, half of, partly, partially, partial, almost, nearly, mostly, most of, so far, to go,"
        " except, except for, apart from, still missing, in part, some of, the first half, roughly half,"
        " not all, to follow, more to do, more to look at, more to check, the bulk of, a few left, left to"
        " do, rest follows, the rest tomorrow, more to come, only missing, lacks, up to now, one more, two"
        " more"
    ),
    also="both, too, also, well, other, others, remaining, rest, last",
    still="still",
    planned=(
        "planned for, planned on, scheduled on, next, will, i'll, we'll, he'll, she'll, they'll, it'll,"
        " shall, going to, gonna, plan to, planning to, plan is to, about to, need to, needs to, need,"
        " needs, have to, has to, must, should, want to, wants to, intend to, would like to, i'd like to,"
        " todo, to do, to be done, is to be, are to be, due, scheduled for, is planned, are planned, would,"
        " could, can then, may, ought to, hope to, hoping to, aim to, remains to, yet to, next i, next we,"
        " next step"
    ),
    deferred=(
        "is on monday, is on tuesday, is on wednesday, is on thursday, is on friday, tomorrow, later, next"
        " week, next month, tonight, after lunch, after that, afterwards, soon, on monday, on tuesday, on"
        " wednesday, on thursday, on friday, on saturday, on sunday, monday, in the evening, in the"
        " afternoon, next sprint, eventually, at some point, someday, sunday night, friday night, in an"
        " hour, this afternoon, this evening, by monday, by friday, by tomorrow"
    ),
    condition=(
        "once, if, when, whenever, until, unless, as soon as, provided, in case, before, after, assuming,"
        " whether, till, so that, in order to, to see if, because, since, although, though, as long as, even"
        " though"
    ),
    hypothesis="if, unless, provided, in case, assuming, whether",
    guessed=(
        "probably, maybe, perhaps, possibly, i think, i guess, i believe, seems, seem, apparently,"
        " presumably, hopefully, supposedly, allegedly, likely, might, should be, must be, as far as i know,"
        " afaik, not sure, i assume, i suppose, looks as if, looks like, could be, in theory"
    ),
    negation=(
        "not, never, n't, don't, doesn't, didn't, isn't, aren't, wasn't, weren't, hasn't, haven't, hadn't,"
        " won't, wouldn't, no, none, nothing, nobody, neither, cannot"
    ),
    harmless=(
        "after all, no errors, no failures, no warnings, no findings, no issues, no problems, no problem,"
        " without errors, without problems, without issues, without a hitch, no complaints, no objections,"
        " no differences, no diff, no leaks, no regressions, no downtime, nothing breaking, nothing broken,"
        " nothing left, nothing left to do, no longer, not only, no work left, doesn't leak, does not leak,"
        " no more, nothing missing, nothing open, no conflicts, without conflicts, no surprises, none"
        " missing, no doubt, not bad, no longer happens, no longer crashes, no longer occurs, nothing to"
        " change, nothing to fix, no changes needed, without trouble, no trouble, none failed, nothing"
        " failed, no new, doesn't crash, does not crash, doesn't fail, does not fail, didn't fail, no"
        " blockers, no news"
    ),
    unfinished=(
        "undone, unfinished, incomplete, still open, still missing, still to do, still pending, still"
        " outstanding, outstanding, remains open, still needs, still need, isn't there, too early, far from,"
        " yet to be, half-finished, still waiting"
    ),
    reopened=(
        "redone, reopen, reopened, reopening, reopens, redo, redoing, do over, undo, undoing, undid, back"
        " to square one, needs redoing, need to redo, have to redo, has to be redone, must be redone, start"
        " over, wrong after all, broken again, failing again, not done after all, is open again, open again,"
        " regressed, premature, prematurely, by mistake, un-done, undone again, take back, i take back,"
        " taking back, was wrong about"
    ),
    skipped=(
        "drop, skip, skipped, skipping, skips, not needed, isn't needed, no longer needed, not necessary,"
        " unnecessary, no longer necessary, needless, dropping, dropped the idea, leaving out, left out,"
        " leave out, omitted, omitting, obsolete, n/a, not applicable, waived, won't do, will not do, moot,"
        " no need, don't need, doesn't apply, does not apply, superfluous, redundant, cancelled as"
        " unnecessary"
    ),
    says=(
        "says, said, writes, wrote, claims, claimed, tells, told, prints, printed, reports, reported,"
        " mentions, mentioned, thinks, thought, believes, states, stated, announces, announced, insists,"
        " insisted, reads, shows, replied, replies, commented, comments, promised, promises, confirmed that,"
        " swears, quotes, quoted, according to, heard that, noted, assures, assured, told me, outputs,"
        " logged, logs, answered, displays, declares, posted, tweeted"
    ),
    others=(
        "he, she, they, it, the, a, an, somebody, someone, everybody, according to, per, his, her, their,"
        " my, our, your, colleague, boss"
    ),
    self_words="i, we, i've, we've, i'm, we're, me",
    asks=(
        "should, shall, do, does, did, is, are, was, were, can, could, would, will, may, have, has, what,"
        " which, who, where, when, why, how, am, any, want, or"
    ),
    repairs=(
        "fix, fixed, resolve, resolved, solve, solved, repair, repaired, worked around, got rid, removed,"
        " corrected, cleared, sorted, sorted out, overcome, overcame, cured, patched, addressed, mended"
    ),
    steps=(
        "step, steps, task, tasks, item, items, todo, todos, number, no, point, points, part, stage, phase,"
        " milestone"
    ),
    ordinals="first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth",
    last="last, final",
    joins="and, then, and then, plus, &, +",
    contrasts="but, however, yet, although, though, while, whereas, except that, only that",
    into=(
        "to, as, in, at, from, with, by, for, on, via, into, of, onto, under, over, after, before, against,"
        " near, between, within, per, through, since, until, about"
    ),
    numbers="one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve",
    of="of, out of, of the, from, /",
    past_endings="ed",
    past_words=(
        "bought:buy sent:send wrote:write written:write built:build made:make ran:run found:find took:take"
        " taken:take brought:bring drew:draw drawn:draw chose:choose chosen:choose began:begin begun:begin"
        " rewrote:rewrite rewritten:rewrite rebuilt:rebuild split:split set:set cut:cut put:put laid:lay"
        " taught:teach wound:wind hid:hide hidden:hide reran:rerun held:hold met:meet sold:sell told:tell"
        " gave:give given:give spoke:speak spoken:speak got:get gotten:get went:go gone:go came:come"
        " paid:pay left:leave kept:keep lent:lend lost:lose won:win dug:dig hung:hang read:read shot:shoot"
        " sewn:sew sewed:sew swept:sweep torn:tear tore:tear threw:throw thrown:throw flew:fly flown:fly"
        " froze:freeze frozen:freeze grew:grow grown:grow hit:hit knew:know known:know led:lead let:let"
        " lit:light rode:ride rose:rise risen:rise saw:see seen:see shut:shut shown:show showed:show"
        " sang:sing spent:spend stood:stand stuck:stick swam:swim thought:think understood:understand"
        " woke:wake wore:wear worn:wear bound:bind fed:feed felt:feel fit:fit fought:fight forgot:forget"
        " ground:grind heard:hear rang:ring rung:ring shook:shake spun:spin spread:spread stole:steal"
        " struck:strike swung:swing upset:upset withdrew:withdraw withdrawn:withdraw undertook:undertake"
        " undertaken:undertake overwrote:overwrite reset:reset typeset:typeset dealt:deal sought:seek"
        " caught:catch cast:cast broke:break driven:drive drove:drive eaten:eat ate:eat filled:fill"
        " dried:dry tried:try carried:carry applied:apply replied:reply supplied:supply copied:copy"
        " notified:notify verified:verify identified:identify clarified:clarify specified:specify"
        " modified:modify simplified:simplify certified:certify studied:study queried:query deployed:deploy"
        " baked:bake glued:glue acked:acknowledge ack'd:acknowledge cc'd:send emailed:email mailed:mail"
        " phoned:phone sanded:sand submitted:submit cloned:clone"
    ),
    not_past=(
        "need feed seed speed bed red indeed hundred embed shed used based unused related expected supposed"
        " interested tired excited detailed limited united proceed exceed succeed breed sacred weed deed"
        " reed advanced so-called let"
    ),
    maybe_past=(
        "left thought felt fit ground shot read set put cut split reset hit cast spread upset shut found"
        " saw hung bound fed met"
    ),
    helpers=(
        "is are was were been be has have had got i we i've we've also just now it already they he she all"
        " both"
    ),
    progress_endings="ing",
    not_progress=(
        "morning evening nothing something everything anything building meeting ceiling string king ring"
        " thing things during including according regarding following spring wedding missing outstanding"
        " pricing listing setting training funding catering clothing housing being packaging onboarding"
        " recording briefing hearing opening landing beijing wiring roofing flooring plumbing painting"
        " wording timing"
    ),
    endings=(
        "izations isations ization isation ications ication ifications ations ation ements ement ments ment"
        " iness ances ance ences ence ising izing ised ized ise ize ings ing ional ions ion als al ies ied"
        " iers ier ers er ors or ed es s ly e y"
    ),
)
