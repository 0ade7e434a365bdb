# ruff: noqa: E501 - texts
"""Two more ledgers for `questions.py`, written before the rules were read again: a security incident that two
agents handle, and a veterinary practice that moves house. `labels/questions_fresh.txt` asks about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from question_ledgers import Ledger


def breach(tell: Ledger) -> None:
    """Incident response: a leaked signing key, two agents (scout and mender), a regulator and a deadline."""
    tell.at("2026-10-05 07:40")
    tell.begin(
        "request", "Leaked signing key of the parcel tracker",
        ["Confirm the leak", "Revoke the signing key", "Find out who used the key", "Take the mirror offline",
         "Build a clean runner image", "Issue a new certificate", "Re-sign the installers", "Reset the partner tokens",
         "Write to the partners", "File the report with the regulator", "Hold a press call", "Close the case"],
        request="Our code signing key showed up on a public paste site last night. Contain it, replace the key and tell "
        "the partners. Nothing may be wiped before forensics have an image. The regulator must hear from us within "
        "72 hours. Legal (Maren Voss) reads every outgoing text first.",
        goal="No installer signed with the old key is trusted any more",
        acceptance=["all 23 installers are re-signed", "the old certificate is on the revocation list"],
    )  # fmt: skip
    tell("claim1", "claim", step=1, agent="scout")
    tell("look", "update", "Comparing the paste with our vault", step=1, step_status="active", agent="scout")
    tell.at("2026-10-05 08:25")
    tell("confirmed", "update", "It is our key: the fingerprint ends in 9F:C2", step=1, step_status="completed",
         agent="scout")  # fmt: skip
    tell(
        "paste",
        "remember",
        "The paste went online on Sunday at 22:47 and had 318 views",
        type="discovery",
        agent="scout",
    )
    tell(
        "revoke",
        "intent",
        what="Revoke certificate 4471 at the CA",
        verify="look up 4471 in the revocation list",
    )
    tell("revoked", "outcome", intent=tell.seq_of("revoke"), outcome="did", note="on the list since 08:52")
    tell("revokedone", "update", "Certificate 4471 is revoked", step=2, step_status="completed")
    tell.at("2026-10-05 09:40")
    tell.says("nowipe", "Do not reinstall runner-5 until Aiko has taken the disk image.")
    tell.says("slackok", "You can use the channel #war-room for everything except customer names.")
    tell("traces", "update", "Reading the CI logs", step=3, step_status="active", agent="scout")
    tell.runs("grep1", "Search the CI logs", "zgrep -c 9fc2 ci-*.log.gz", "gzip: ci-0918.log.gz: unexpected end of file",
              ok=False, seconds=75)  # fmt: skip
    tell(
        "brokenlog",
        "remember",
        "ci-0918.log.gz is truncated, 40 minutes of logs are lost",
        type="error",
        agent="scout",
    )
    tell("oldlogs", "exclude", what="Recover the truncated log with gzrecover", why="the tail was never written to the disk",
         symptom="0 bytes recovered")  # fmt: skip
    tell.at("2026-10-05 11:10")
    tell(
        "cause",
        "remember",
        "A debug step printed the key into the build log of job 88213",
        type="discovery",
        agent="scout",
    )
    tell("found3", "update", "Only job 88213 exposed it; nobody signed anything with the key after Friday", step=3,
         step_status="completed", agent="scout")  # fmt: skip
    tell.at("2026-10-05 13:05")
    tell("hsm", "decide", choice="Keep the new key in an HSM", title="Where the new key lives",
         options=["Vault transit engine", "an encrypted file"], reasoning="a key in hardware cannot be printed by a job",
         risks=["signing takes 4 seconds longer per file", "one supplier only"],
         if_wrong="move to the transit engine of Vault, two days of work")  # fmt: skip
    tell("hsmslot", "set", "HSM_SLOT", 3)
    tell(
        "pinplace",
        "remember",
        "The HSM PIN is in the safe of the Rotterdam office, envelope 12",
        type="context",
    )
    tell("mirror", "update", "Mirror eu2 is offline since 13:20", step=4, step_status="completed")
    tell.at("2026-10-05 15:30")
    tell("image5", "update", "Building the runner image", step=5, step_status="active", agent="mender")
    tell.runs("build1", "Build the runner image", "packer build runner.pkr.hcl", "Build 'qemu' errored: checksum mismatch "
              "for debian-12.iso", ok=False, seconds=410, item=5)  # fmt: skip
    tell(
        "isoerr",
        "remember",
        "Packer stops: the checksum of debian-12.iso does not match",
        type="error",
        agent="mender",
    )
    tell("isofix", "remember", "The ISO in the cache was half downloaded; a fresh download matches the checksum",
         type="discovery", agent="mender")  # fmt: skip
    tell.at("2026-10-06 08:15")
    tell.runs("build2", "Build the runner image", "packer build runner.pkr.hcl", "Builds finished. runner-2026.10.06 "
              "2.1 GB", seconds=820, item=5)  # fmt: skip
    tell(
        "image5done", "update", "Clean runner image is ready", step=5, step_status="completed", agent="mender"
    )
    tell(
        "german",
        "update",
        "Aiko hat das Abbild von runner-5 gezogen, es liegt auf der Platte FX-3 im Tresor.",
    )
    tell.at("2026-10-06 09:50")
    tell("cert6", "update", "Requested the new certificate", step=6, step_status="active",
         blockers=["the CA wants a notarised extract of the company register"])  # fmt: skip
    tell.at("2026-10-06 12:20")
    tell("extract", "update", "Notary Brandsma sent the extract to the CA", blockers=[])
    tell(
        "certdone",
        "update",
        "New certificate 5120 is valid until 6 October 2029",
        step=6,
        step_status="completed",
    )
    tell("serial", "set", "CERT_SERIAL", "5120")
    tell("files", "log_action", "Write the signing script", files=[{"path": "/srv/project/sign/resign.sh", "change": "created"},
         {"path": "/srv/project/ci/release.yml", "change": "modified"}])  # fmt: skip
    tell.at("2026-10-06 14:00")
    tell.says("nopress", "No press call. If journalists ask, send them to Maren.")
    tell.says("zhuser", "给合作伙伴的信要用英文和中文两种语言。")
    tell("replan", "plan_replace",
         ["Confirm the leak", "Revoke the signing key", "Find out who used the key", "Take the mirror offline",
          "Build a clean runner image", "Issue a new certificate", "Re-sign the installers", "Reset the partner tokens",
          "Scan the build logs for other secrets", "Write to the partners", "File the report with the regulator",
          "Close the case"],
         reason="The user does not want a press call; the debug step may have printed more than one secret")  # fmt: skip
    tell("sign7", "update", "Signing the installers", step=7, step_status="active", agent="mender")
    tell.runs("sign1", "Sign the installers", "sh sign/resign.sh --all", "17 of 23 signed\nerror: timestamp server "
              "tsa1 does not answer", ok=False, seconds=260)  # fmt: skip
    tell("tsa", "decide", choice="Use tsa2.example.net for timestamps", title="Timestamp server", options=["wait for tsa1"],
         reasoning="tsa1 has been down for three hours", agent="mender")  # fmt: skip
    tell.runs(
        "sign2", "Sign the installers", "sh sign/resign.sh --missing", "6 signed, 23 of 23 valid", seconds=95
    )
    tell(
        "sign7done",
        "update",
        "All 23 installers carry the new signature",
        step=7,
        step_status="completed",
        agent="mender",
    )
    tell.at("2026-10-06 16:45")
    tell.runs(
        "verify", "Run the tests", "pytest -q tests/installers", "46 passed, 2 skipped in 18.4s", seconds=19
    )
    tell("tokens8", "update", "Resetting the partner tokens", step=8, step_status="active", agent="scout")
    tell("spanish", "update", "Correos pide que su token se cambie el jueves, no antes.", agent="scout")
    tell(
        "postpone",
        "remember",
        "DHL and Correos each have two tokens, the other nine partners one",
        type="context",
    )
    tell.at("2026-10-07 09:10")
    tell("tokens", "update", "9 of 13 tokens are reset", agent="scout")
    tell(
        "notice",
        "intent",
        what="Upload the new public key to keys.example.net",
        verify="curl keys.example.net/parcel.asc",
    )
    tell(
        "noticeno",
        "outcome",
        intent=tell.seq_of("notice"),
        outcome="did_not",
        note="403, our upload account has expired",
    )
    tell("letter", "intent", what="Send the letter to the 11 partners", verify="sent folder of security@")
    tell("regq", "remember", "Does the regulator need the list of affected customers?", type="question")
    tell("hsmq", "remember", "Who pays for the second HSM?", type="question")
    tell("hsma", "remember", "The second HSM is paid by the infrastructure budget, says Tobias", type="discovery",
         resolves=tell.seq_of("hsmq"))  # fmt: skip
    tell("draft10", "update", "Maren still has the draft of the letter", next="Reset the two Correos tokens on Thursday",
         blockers=["Legal has not released the letter to the partners"])  # fmt: skip
    tell.at("2026-10-07 11:30")


def practice(tell: Ledger) -> None:
    """A house move: a veterinary practice with an X-ray machine, movers, permits, a booking page and a budget."""
    tell.at("2026-08-17 08:15")
    tell.begin(
        "request", "Move the veterinary practice to Mill Street",
        ["Sign the lease", "Measure the new rooms", "Get the permit for the X-ray room", "Hire the movers",
         "Install the oxygen line", "Move the phone number", "Update the booking page", "Pack the pharmacy",
         "Paint the waiting room", "Move the X-ray machine", "Tell the clients", "Hand over the old rooms"],
        request="We move from Harbour Lane to Mill Street. The practice may be closed for three days at most, and the "
        "move must not cost more than 22,000 euros. Controlled drugs travel only with Dr. Sato in person. Ask me before "
        "you order anything above 1,500 euros.",
        goal="First patient in Mill Street on Monday 31 August",
    )  # fmt: skip
    tell(
        "lease", "update", "Lease signed, 1,950 euros a month for five years", step=1, step_status="completed"
    )
    tell(
        "measured",
        "update",
        "Surgery 24 square metres, X-ray room 11, waiting room 31",
        step=2,
        step_status="completed",
    )
    tell("ceiling", "remember", "The ceiling of the X-ray room carries only 180 kg", type="discovery")
    tell.at("2026-08-17 13:40")
    tell(
        "permit3",
        "update",
        "Applied for the radiation permit at the district office",
        step=3,
        step_status="active",
    )
    tell("lead", "decide", choice="Lead plasterboard of 2 mm", title="Shielding of the X-ray room",
         options=["barite plaster", "lead glass"], reasoning="the inspector accepts it without a second measurement",
         risks=["each board weighs 45 kg", "the boards must not be drilled later"],
         if_wrong="barite plaster on top, one more week")  # fmt: skip
    tell("doseerr", "remember", "The first application was returned: form RX-2 was missing", type="error")
    tell.at("2026-08-18 09:00")
    tell("rx2", "update", "Handed in form RX-2 at the counter, Ms. Perrin stamped it")
    tell.says("norosa", "No pink walls, whatever the painter suggests.")
    tell.says("bird", "The parrot Kasimir stays with me during the move, nobody else may carry him.")
    tell("movers", "update", "Asking movers for offers", step=4, step_status="active")
    tell(
        "offers",
        "remember",
        "Offers: Kranich 6,900 euros, Ottomeyer 5,400 euros, Swift 4,100 euros",
        type="discovery",
    )
    tell("swift", "exclude", what="Swift movers", why="their insurance does not cover medical devices")
    tell("mover", "decide", choice="Ottomeyer", title="Moving company", options=["Kranich", "Swift"],
         reasoning="they have moved two dental practices and are insured up to 500,000 euros",
         risks="they cannot come on a Sunday", if_wrong="Kranich keeps 29 August free for us until Friday", by="user")  # fmt: skip
    tell("booked", "update", "Ottomeyer booked for Saturday 29 August, order OM-2207, four people", step=4,
         step_status="completed")  # fmt: skip
    tell("order", "set", "mover_order", "OM-2207")
    tell.at("2026-08-18 15:20")
    tell("oxygen", "update", "Plumber Ferrante installs the oxygen line", step=5, step_status="active")
    tell("leak", "remember", "The pressure test of the oxygen line failed: it loses 0.4 bar in an hour", type="error",
         step=5)  # fmt: skip
    tell(
        "oxyblock",
        "update",
        "Waiting for a new valve",
        blockers=["the valve for the oxygen line is on back order"],
    )
    tell.at("2026-08-19 10:30")
    tell("valve", "update", "Ferrante brought the valve from Lyon", blockers=[])
    tell(
        "oxydone",
        "update",
        "Pressure test passed: 0.0 bar lost in two hours",
        step=5,
        step_status="completed",
    )
    tell("fr", "update", "Le certificat de la ligne d'oxygène est dans le classeur vert, onglet 4.")
    tell.at("2026-08-19 14:10")
    tell("phone", "update", "Porting the number 0541 220 18", step=6, step_status="active")
    tell(
        "porting",
        "intent",
        what="Order the porting of the phone number at Telvia",
        verify="customer portal of Telvia",
    )
    tell(
        "ported",
        "outcome",
        intent=tell.seq_of("porting"),
        outcome="did",
        note="confirmed for 28 August, 06:00",
    )
    tell("phonedone", "update", "Porting confirmed", step=6, step_status="completed")
    tell("page7", "update", "New address on the booking page", step=7, step_status="active")
    tell("edit", "log_action", "Edit booking/address.html", files=[{"path": "/srv/project/booking/address.html",
         "change": "modified"}, {"path": "/srv/project/booking/map.svg", "change": "created"}])  # fmt: skip
    tell.runs("test1", "Run the tests of the booking page", "npm test", "Tests: 3 failed, 58 passed, 61 total", ok=False,
              seconds=22)  # fmt: skip
    tell.runs(
        "test2", "Run the tests of the booking page", "npm test", "Tests: 61 passed, 61 total", seconds=21
    )
    tell("commit", "log_action", "Commit", tool="Bash", type="cli", by="tool",
         input={"command": 'git commit -m "New address and map"'}, output="[move 31c0aa7] New address and map\n 2 files changed")  # fmt: skip
    tell(
        "page7done",
        "update",
        "Booking page shows Mill Street from 29 August on",
        step=7,
        step_status="completed",
    )
    tell.at("2026-08-20 08:50")
    tell.says("nopaint", "Skip the painting, the landlord does it in winter.")
    tell.says("sms", "Text the clients instead of writing letters. Not after 20:00.")
    tell("replan", "plan_replace",
         ["Sign the lease", "Measure the new rooms", "Get the permit for the X-ray room", "Hire the movers",
          "Install the oxygen line", "Move the phone number", "Update the booking page", "Pack the pharmacy",
          "Reinforce the ceiling", "Move the X-ray machine", "Tell the clients", "Hand over the old rooms"],
         reason="The landlord paints in winter; the ceiling cannot hold the X-ray arm without a steel beam")  # fmt: skip
    tell("pack8", "update", "Packing the pharmacy", step=8, step_status="active")
    tell("boxes", "update", "14 of 20 boxes of the pharmacy are packed")
    tell("fridge", "remember", "The vaccine fridge must not be above 8 degrees; it stays cold for 3 hours without power",
         type="context")  # fmt: skip
    tell("cooler", "decide", choice="Rent two mobile coolers", title="Vaccines during the move", options=["dry ice"],
         reasoning="dry ice would freeze the vaccines")  # fmt: skip
    tell.at("2026-08-20 13:30")
    tell("beam", "update", "Welder Nowak measures for the steel beam", step=9, step_status="active")
    tell("zh", "update", "钢梁星期一早上送到,重 240 公斤。")
    tell("texted", "intent", what="Send the text message to 1,260 clients", verify="log of the SMS gateway")
    tell(
        "cancelgas",
        "intent",
        what="Cancel the gas contract of Harbour Lane",
        verify="letter from the gas company",
    )
    tell("cancelled", "outcome", intent=tell.seq_of("cancelgas"), outcome="did", note="ends on 30 September")
    tell("es", "update", "La inspectora viene el miércoles 26 a las 9:30.")
    tell("spent", "update", "Spent so far: 11,480 euros")
    tell("q1", "remember", "Do we keep the second sign above the door?", type="question")
    tell("q2", "remember", "Which day do we close first?", type="question")
    tell("a2", "remember", "We close on Friday 28 August at noon, Dr. Sato decided", type="discovery",
         resolves=tell.seq_of("q2"))  # fmt: skip
    tell("stuck", "update", "Nowak needs the drawing of the ceiling", next="Fetch the drawing from the landlord",
         blockers=["the landlord has not sent the drawing of the ceiling"])  # fmt: skip
    tell.at("2026-08-21 09:05")


def conference(tell: Ledger) -> None:
    """Events and software: a regional conference with speakers, a stream, sponsors and a registration service."""
    tell.at("2026-02-02 09:05")
    tell.begin(
        "request", "Organise the river ecology conference",
        ["Fix the venue", "Open the call for talks", "Select the talks", "Set up the registration service",
         "Find sponsors", "Arrange the live stream", "Order the catering", "Publish the timetable",
         "Book rooms for the speakers", "Plan the boat excursion", "Print the lanyards", "Send the thank-you notes"],
        request="Please organise our conference on river ecology in Graz, 21 to 23 May, for about 180 people. Keep it "
        "below 60,000 euros. Catering has to be vegetarian. Do not accept money from mining companies. Contracts above "
        "5,000 euros go to Ingrid Saller for signature.",
        goal="Every talk can be watched live and afterwards",
    )  # fmt: skip
    tell("venue", "update", "Looking at halls", step=1, step_status="active")
    tell("castle", "exclude", what="Castle hall", why="no lift, so it is not accessible by wheelchair")
    tell("hall", "decide", choice="Old tram depot", title="Venue", options=["Castle hall", "University aula"],
         reasoning="it has a lift and room for 240 people", risks=["the heating is loud", "no parking within 400 m"],
         if_wrong="the aula is reserved for us until 15 March")  # fmt: skip
    tell(
        "venuedone",
        "update",
        "Tram depot booked for 11,300 euros, Ingrid signed",
        step=1,
        step_status="completed",
    )
    tell.at("2026-02-03 14:20")
    tell("call", "update", "Call for talks is online, it closes on 1 March", step=2, step_status="completed")
    tell("mail1", "intent", what="Announce the call on the mailing list limnology-at", verify="list archive")
    tell("mail1done", "outcome", intent=tell.seq_of("mail1"), outcome="did", note="2,140 subscribers")
    tell.says("talks", "Every talk gets 20 minutes, no exceptions, not even for professors.")
    tell.says("women", "At least half of the invited speakers should be women.")
    tell.at("2026-03-02 08:30")
    tell("select", "update", "94 proposals came in, reading them", step=3, step_status="active", agent="kelp")
    tell(
        "double",
        "remember",
        "Proposals 31 and 77 are the same text under two names",
        type="discovery",
        agent="kelp",
    )
    tell(
        "selected",
        "update",
        "42 talks accepted, 8 on the waiting list",
        step=3,
        step_status="completed",
        agent="kelp",
    )
    tell.at("2026-03-02 13:10")
    tell("reg", "update", "Building the registration service", step=4, step_status="active", agent="otter")
    tell("stack", "decide", choice="Pretix, hosted by ourselves", title="Registration software", options=["Eventbrite", "a form"],
         reasoning="personal data stays in the EU", risks=["we have to patch it"], if_wrong="move to pretix.eu for 2 % per ticket",
         agent="otter")  # fmt: skip
    tell.runs("mig1", "Migrate the database", "python -m pretix migrate", "django.db.utils.OperationalError: FATAL: role "
              "\"pretix\" does not exist", ok=False, seconds=6)  # fmt: skip
    tell(
        "role",
        "remember",
        "The role pretix was missing in PostgreSQL, createuser added it",
        type="discovery",
        agent="otter",
    )
    tell.runs(
        "mig2", "Migrate the database", "python -m pretix migrate", "Applied 311 migrations", seconds=48
    )
    tell("dburl", "set", "DATABASE_HOST", "db2.conf.example")
    tell(
        "dbpass",
        "remember",
        "The database password is in the vault under conf/pretix",
        type="context",
        agent="otter",
    )
    tell("price", "remember", "A ticket costs 140 euros, 60 euros for students", type="context")
    tell.runs("e2e1", "Run the checkout tests", "npx playwright test", "2 failed\n  checkout.spec.ts: voucher field missing\n17 passed",
              ok=False, seconds=64)  # fmt: skip
    tell(
        "voucher",
        "remember",
        "checkout.spec.ts fails because the voucher field is hidden on phones",
        type="error",
        agent="otter",
    )
    tell(
        "css",
        "log_action",
        "Edit theme/checkout.css",
        files=[{"path": "/srv/project/theme/checkout.css", "change": "modified"}],
    )
    tell.runs("e2e2", "Run the checkout tests", "npx playwright test", "19 passed (58s)", seconds=60)
    tell(
        "regdone",
        "update",
        "Registration is live at tickets.river.example",
        step=4,
        step_status="completed",
        agent="otter",
    )
    tell.at("2026-03-03 09:40")
    tell("spons", "update", "Writing to sponsors", step=5, step_status="active", agent="kelp")
    tell("sponslist", "update", "Alpenbank gives 8,000 euros, HydroLab 3,500 euros", agent="kelp")
    tell(
        "mining",
        "remember",
        "Styria Mining offered 12,000 euros, declined as the user wishes",
        type="context",
        agent="kelp",
    )
    tell("it", "update", "Il contratto con Alpenbank arriva venerdì, lo firma Ingrid.", agent="kelp")
    tell.at("2026-03-03 11:50")
    tell("stream", "update", "Testing the stream", step=6, step_status="active", agent="otter",
         blockers=["the depot has only 20 Mbit/s upstream"])  # fmt: skip
    tell.at("2026-03-03 16:15")
    tell(
        "fibre",
        "update",
        "Citynet lays a temporary fibre with 500 Mbit/s for 900 euros",
        blockers=[],
        agent="otter",
    )
    tell(
        "streamdone",
        "update",
        "Stream tested for two hours without a dropout",
        step=6,
        step_status="completed",
        agent="otter",
    )
    tell(
        "de", "update", "Die Aufzeichnungen bleiben zwei Jahre auf dem Server der Universität.", agent="otter"
    )
    tell.at("2026-03-04 08:20")
    tell.says(
        "noboat",
        "The boat excursion is off, the shipping company wants too much. Offer a guided walk instead.",
    )
    tell.says("meat", "One exception: the dinner on Friday may include fish.")
    tell("replan", "plan_replace",
         ["Fix the venue", "Open the call for talks", "Select the talks", "Set up the registration service",
          "Find sponsors", "Arrange the live stream", "Order the catering", "Publish the timetable",
          "Book rooms for the speakers", "Plan the guided walk", "Find sign language interpreters", "Print the lanyards",
          "Send the thank-you notes"],
         reason="The boat is too expensive, and two participants are deaf")  # fmt: skip
    tell("cater", "update", "Comparing caterers", step=7, step_status="active", agent="kelp")
    tell("caterdec", "decide", choice="Grünkost", title="Caterer", options=["Mensa Süd"],
         reasoning="they bring their own dishes and take the waste back", agent="kelp")  # fmt: skip
    tell(
        "caterorder",
        "intent",
        what="Send the order over 180 lunches to Grünkost",
        verify="confirmation by mail",
    )
    tell("zh", "update", "两位同声传译员的费用是每天六百欧元。", agent="kelp")
    tell.at("2026-03-04 13:45")
    tell("timetable", "update", "Timetable has 3 parallel tracks", step=8, step_status="active", agent="kelp")
    tell(
        "publish",
        "intent",
        what="Publish the timetable on the website",
        verify="open river.example/timetable",
    )
    tell(
        "publishno",
        "outcome",
        intent=tell.seq_of("publish"),
        outcome="did_not",
        note="the web server was in maintenance",
    )
    tell(
        "rooms",
        "remember",
        "Hotel Mur holds 25 rooms at 98 euros until 10 April",
        type="context",
        agent="kelp",
    )
    tell(
        "keynote",
        "remember",
        "The keynote is by Prof. Amara Diallo on 21 May at 10:00",
        type="context",
        agent="kelp",
    )
    tell("q1", "remember", "Do sponsors get a table in the foyer?", type="question")
    tell("q2", "remember", "Is the walk for 40 or for 60 people?", type="question")
    tell(
        "a2",
        "remember",
        "The walk is for 40 people, the ranger allows no more",
        type="discovery",
        resolves=tell.seq_of("q2"),
    )
    tell("wait", "update", "Caterer wants the number of vegans", next="Ask the registered participants about allergies",
         blockers=["Grünkost has not confirmed the order"], agent="kelp")  # fmt: skip
    tell("spentnote", "update", "31,750 euros are committed so far")
    tell.at("2026-03-05 10:10")


def orchard(tell: Ledger) -> None:
    """Farming and data: an orchard gets irrigation with sensors, a subsidy, a well and a dashboard."""
    tell.at("2026-04-06 07:30")
    tell.begin(
        "request", "Irrigation for the cherry orchard",
        ["Map the rows", "Drill the well", "Test the water", "Apply for the subsidy", "Lay the drip lines", "Install the soil sensors",
         "Write the sensor gateway", "Build the dashboard", "Build a frost alarm", "Train the pickers", "Insure the pump",
         "Start the irrigation"],
        request="We want drip irrigation in the cherry orchard before the heat of June. Use at most 40 cubic metres of water a "
        "day. Nobody drives heavy machines between the rows after rain. Spend no more than 38,000 euros. Keep the old "
        "sprinklers until the new lines have run for a week.",
        goal="Every tree gets water without anybody opening a valve by hand",
    )  # fmt: skip
    tell("mapped", "update", "Mapped 26 rows with 1,144 trees", step=1, step_status="completed", agent="wren")
    tell("well", "update", "Drilling company Petrov starts", step=2, step_status="active")
    tell("rock", "remember", "The drill hit granite at 38 metres", type="error", step=2)
    tell("hammer", "update", "Petrov switched to a hammer drill", step=2)
    tell.at("2026-04-07 12:05")
    tell(
        "welldone",
        "update",
        "Well is 61 metres deep and gives 3.2 cubic metres an hour",
        step=2,
        step_status="completed",
    )
    tell(
        "water",
        "update",
        "Sent three samples to the lab in Ostrava",
        step=3,
        step_status="active",
        agent="wren",
    )
    tell.says("nochlorine", "Please no chlorine in the water, whatever the lab says.")
    tell.says("bees", "Spraying is only allowed before 7:00, because of the bees.")
    tell.at("2026-04-08 09:15")
    tell(
        "iron",
        "remember",
        "The lab found 2.4 mg of iron per litre, which clogs drippers",
        type="discovery",
        agent="wren",
    )
    tell("filter", "decide", choice="Disc filter of 130 microns", title="Filter", options=["sand filter", "screen filter"],
         reasoning="it can be rinsed without stopping the pump", risks=["the discs wear out in two seasons"],
         if_wrong="put a sand filter in front of it, 1,900 euros")  # fmt: skip
    tell(
        "waterdone",
        "update",
        "Water is fit for irrigation with a filter",
        step=3,
        step_status="completed",
        agent="wren",
    )
    tell("subsidy", "update", "Filled in the form for the subsidy", step=4, step_status="active")
    tell(
        "sentform",
        "intent",
        what="Submit the subsidy application to the agency",
        verify="portal of the agency",
    )
    tell("sentok", "outcome", intent=tell.seq_of("sentform"), outcome="did", note="file number SZ-4410")
    tell(
        "subsidyblock",
        "update",
        "Agency asks for the land register",
        blockers=["the land register extract is missing"],
    )
    tell.at("2026-04-08 15:30")
    tell("extract", "update", "Ms Havel brought the extract to the agency", blockers=[])
    tell(
        "subsidydone",
        "update",
        "Subsidy of 9,600 euros approved, paid out in September",
        step=4,
        step_status="completed",
    )
    tell.at("2026-04-09 08:00")
    tell("lines", "update", "Laying the drip lines", step=5, step_status="active", agent="wren")
    tell("plastic", "exclude", what="Recycled tubes from Agrotub", why="they crack below minus 10 degrees", symptom="two of "
         "five samples burst in the freezer")  # fmt: skip
    tell("half", "update", "15 of 26 rows have lines", agent="wren")
    tell("fr", "update", "Les goutteurs arrivent jeudi, livrés par la maison Girard.", agent="wren")
    tell("gw", "update", "Writing the gateway", step=7, step_status="active", agent="finch")
    tell("lang", "decide", choice="Write the gateway in Go", title="Language of the gateway", options=["Python", "Rust"],
         reasoning="one static binary runs on the old router", agent="finch")  # fmt: skip
    tell.runs(
        "go1",
        "Run the gateway tests",
        "go test ./...",
        "--- FAIL: TestParseFrame\nFAIL gateway/lora 0.41s",
        ok=False,
        seconds=9,
    )
    tell(
        "endian",
        "remember",
        "TestParseFrame fails: the sensor sends little-endian numbers",
        type="error",
        agent="finch",
    )
    tell(
        "swap",
        "log_action",
        "Edit lora/frame.go",
        files=[{"path": "/srv/project/lora/frame.go", "change": "modified"}],
    )
    tell.runs(
        "go2",
        "Run the gateway tests",
        "go test ./...",
        "ok gateway/lora 0.39s\nok gateway/http 0.12s",
        seconds=8,
    )
    tell(
        "gwdone",
        "update",
        "Gateway forwards a reading every 10 minutes",
        step=7,
        step_status="completed",
        agent="finch",
    )
    tell("broker", "set", "MQTT_BROKER", "mqtt.orchard.example:8883")
    tell(
        "simcard",
        "remember",
        "The PIN of the SIM card is on the label inside the router",
        type="context",
        agent="finch",
    )
    tell.at("2026-04-09 16:40")
    tell.says("noalarm", "Drop the frost alarm, our neighbour already has one and calls us.")
    tell("replan", "plan_replace",
         ["Map the rows", "Drill the well", "Test the water", "Apply for the subsidy", "Lay the drip lines", "Install the soil sensors",
          "Write the sensor gateway", "Build the dashboard", "Mount the disc filter", "Train the pickers", "Insure the pump",
          "Start the irrigation"],
         reason="The neighbour warns of frost; the iron in the water makes a filter necessary")  # fmt: skip
    tell.at("2026-04-10 09:00")
    tell("dash", "update", "Building the dashboard", step=8, step_status="active", agent="finch")
    tell("deploy", "intent", what="Deploy the dashboard to the farm server", verify="open http://farm.local")
    tell("pump", "intent", what="Order the pump from Lowara", verify="order mail")
    tell(
        "pumpno",
        "outcome",
        intent=tell.seq_of("pump"),
        outcome="did_not",
        note="the model is sold out until May",
    )
    tell("de", "update", "Der Filter wiegt 48 kg und steht in der Halle von Onkel Jiri.", agent="wren")
    tell("zh", "update", "传感器一共四十个,每排两个。", agent="finch")
    tell("cost", "update", "Paid so far: 21,300 euros")
    tell("q", "remember", "Do we water the young trees twice a day?", type="question")
    tell(
        "battery",
        "remember",
        "A sensor battery lasts three years; it costs 7 euros",
        type="context",
        agent="finch",
    )
    tell("stop", "update", "Rain since the morning, the rows are closed", next="Mount the disc filter in the pump house",
         blockers=["the rows may not be driven on after the rain"], agent="wren")  # fmt: skip
    tell.at("2026-04-10 14:20")
