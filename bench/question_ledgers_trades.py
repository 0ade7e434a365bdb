# ruff: noqa: E501 - texts
"""Ledgers of further trades for `questions.py`, each written with its questions before any was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from question_ledgers import Ledger


def clinic(tell: Ledger) -> None:
    """Health care: the records of a clinic move to another system."""
    tell.at("2026-04-13 08:05")
    tell.begin(
        "request", "Move the patient records to Medicore",
        ["Export the records from Klinix", "Map the fields", "Clean up duplicates", "Trial import on staging",
         "Have the doctors check a sample", "Freeze Klinix", "Final import", "Train the front desk", "Shut down Klinix"],
        request="Move all our patient records from Klinix to Medicore before the licence ends on 31 May. Nobody outside the "
        "practice may see real names, so use the pseudonymised copy for tests. The phones have to stay reachable all the "
        "time. Budget for outside help: 6,500 euros.",
        goal="Doctors find every record in Medicore and Klinix can be switched off",
        acceptance=["a sample of 200 records matches", "no open prescription is lost"],
    )  # fmt: skip
    tell("exp", "update", "Export is running", step=1, step_status="active")
    tell.runs("exp1", "Export the records", "klinix-export --all /data/out", "ERROR: attachment 90211 unreadable\nexport aborted",
              ok=False, seconds=1320, item=1)  # fmt: skip
    tell("badatt", "remember", "Export aborts at attachment 90211, the scan file is damaged", type="error")
    tell("skipflag", "remember", "klinix-export has a flag --skip-broken; it writes the skipped ones to skipped.csv",
         type="discovery")  # fmt: skip
    tell.at("2026-04-13 09:20")
    tell.runs("exp2", "Export the records", "klinix-export --all --skip-broken /data/out", "48,310 records, 112,906 attachments, 3 skipped",
              seconds=2460, item=1)  # fmt: skip
    tell("expdone", "update", "Export complete: 48,310 records", step=1, step_status="completed")
    tell.at("2026-04-13 14:10")
    tell("map", "update", "Mapping fields, 212 of 260 mapped", step=2, step_status="active")
    tell("allergy", "decide", choice="Keep allergies as free text", title="Allergy field", options=["coded list", "both"],
         reasoning="the old codes have no counterpart in Medicore", risks=["no automatic warning when prescribing"],
         if_wrong="code the 1,900 entries by hand, about four days")  # fmt: skip
    tell.says("nosms", "Please don't send any text messages to patients during the move.")
    tell.says("lunch", "Imports only between 19:00 and 6:00, the doctors need the server by day.")
    tell("mapdone", "update", "All 260 fields mapped", step=2, step_status="completed")
    tell.at("2026-04-14 08:30")
    tell("dup", "update", "Looking for duplicate patients", step=3, step_status="active")
    tell(
        "dupfound",
        "remember",
        "641 duplicate patients, mostly from spelling of names with umlauts",
        type="discovery",
    )
    tell("nomerge", "exclude", what="Merge duplicates automatically by name and birthday",
         why="it merged twins: two sisters Braun became one")  # fmt: skip
    tell("byhand", "decide", choice="Merge only with the same insurance number", title="How to merge duplicates",
         reasoning="the insurance number is unique, names are not")  # fmt: skip
    tell(
        "dupdone",
        "update",
        "598 duplicates merged, 43 left for Nurse Petra Lindqvist to decide",
        step=3,
        step_status="completed",
    )
    tell("thres", "set", "MATCH_THRESHOLD", 0.92)
    tell("fr", "update", "La liste des 43 doublons est dans le dossier partagé, sous /partage/doublons.xlsx.")
    tell.at("2026-04-14 19:30")
    tell("trial", "update", "Trial import on staging started", step=4, step_status="active")
    tell.runs("imp1", "Trial import", "medicore import /data/out --target staging", "import finished with 27 rejected: invalid birth date",
              seconds=5400, item=4)  # fmt: skip
    tell(
        "dates",
        "remember",
        "27 records rejected: birth dates before 1900 are refused by Medicore",
        type="error",
    )
    tell("datefix", "update", "The 27 were typing errors, corrected from the paper files")
    tell.at("2026-04-15 07:50")
    tell.runs("imp2", "Trial import", "medicore import /data/out --target staging", "import finished, 0 rejected, 47,712 records",
              seconds=5100, item=4)  # fmt: skip
    tell("trialdone", "update", "Trial import without rejects", step=4, step_status="completed")
    tell("check", "update", "Dr. Amsel and Dr. Oyelaran compare the sample", step=5, step_status="active")
    tell("pres", "remember", "Prescriptions with a comment lose the comment on import", type="discovery")
    tell("ticket", "remember", "Medicore support opened case 55-7120 about the lost comments", type="context")
    tell(
        "vendor",
        "intent",
        what="Order two days of help from Medicore for 2,400 euros",
        verify="order confirmation in the mailbox",
    )
    tell(
        "vendorok",
        "outcome",
        intent=tell.seq_of("vendor"),
        outcome="did",
        note="confirmed, consultant Ilse Roth comes on 22 April",
    )
    tell(
        "letter",
        "intent",
        what="Mail the privacy notice to the state authority",
        verify="look in the outgoing mail book",
    )
    tell.at("2026-04-15 15:40")
    tell("trainoff", "remember", "No training on site. Do it by video instead, the room is being painted.",
         type="user_instruction", by="user")  # fmt: skip
    tell("replan", "plan_replace",
         ["Export the records from Klinix", "Map the fields", "Clean up duplicates", "Trial import on staging",
          "Have the doctors check a sample", "Fix the prescription comments", "Freeze Klinix", "Final import",
          "Train the front desk by video", "Shut down Klinix"],
         reason="Comments of prescriptions are lost, and the training room is being painted")  # fmt: skip
    tell("zh", "update", "样本中已核对 140 份记录,发现 2 处错误。")
    tell("q1", "remember", "Should deceased patients be moved as well?", type="question")
    tell("q2", "remember", "Who keeps the Klinix backup tapes?", type="question")
    tell(
        "a2",
        "remember",
        "The tapes stay with notary Hagen for ten years",
        type="discovery",
        resolves=tell.seq_of("q2"),
    )
    tell("wait", "update", "Sample check waits for Dr. Oyelaran", next="Call Dr. Oyelaran about the remaining 60 records",
         blockers=["Dr. Oyelaran is ill until Friday"])  # fmt: skip
    tell.at("2026-04-16 09:15")


def firmware(tell: Ledger) -> None:
    """Hardware: bringing up the firmware of a new board, two agents (volt and byte)."""
    tell.at("2026-06-08 09:00")
    tell.begin(
        "request", "Bring up board revision C",
        ["Power the rails", "Flash the bootloader", "Get a serial console", "Bring up DDR", "Boot the kernel",
         "Enable the sensors", "Measure sleep current", "Run the overnight soak", "Release firmware 0.9"],
        request="Bring up the five rev C boards. Board 5 goes to the EMC lab untouched, don't power it. Never exceed 3.6 V on "
        "the sensor rail. Sleep current must be under 12 µA. Tag nothing before Kwame has seen the soak log.",
        goal="Rev C runs firmware 0.9 overnight without a reset",
    )  # fmt: skip
    tell("pow", "update", "Powering board 1", step=1, step_status="active", agent="volt")
    tell(
        "rail",
        "remember",
        "The 1.8 V rail of board 2 sits at 1.31 V, R17 has the wrong value",
        type="discovery",
        agent="volt",
    )
    tell("powdone", "update", "Rails fine on boards 1, 3 and 4; board 2 reworked, R17 is now 22k", step=1, step_status="completed",
         agent="volt")  # fmt: skip
    tell.at("2026-06-08 10:30")
    tell("flash", "update", "Flashing over JTAG", step=2, step_status="active", agent="byte")
    tell.runs("fl1", "Flash the bootloader", "openocd -f revc.cfg -c 'program boot.bin'", "Error: JTAG scan chain interrogation failed",
              ok=False, seconds=9, item=2)  # fmt: skip
    tell(
        "jtag",
        "remember",
        "JTAG fails above 4 MHz on rev C, the trace is too long",
        type="error",
        agent="byte",
    )
    tell("noswd", "exclude", what="Flash over SWD", why="SWDIO is not routed on rev C")
    tell.runs("fl2", "Flash the bootloader at 1 MHz", "openocd -f revc.cfg -c 'adapter speed 1000; program boot.bin'", "** Verified OK **",
              seconds=41, item=2)  # fmt: skip
    tell(
        "fldone", "update", "Bootloader is on all four boards", step=2, step_status="completed", agent="byte"
    )
    tell("baud", "set", "CONSOLE_BAUD", 921600)
    tell("con", "update", "Console up on UART2", step=3, step_status="completed", agent="byte")
    tell.at("2026-06-08 14:00")
    tell("ddr", "update", "Training DDR", step=4, step_status="active", agent="byte")
    tell("ddrspeed", "decide", choice="Run DDR at 666 MHz", title="Memory clock", options=["800 MHz", "533 MHz"],
         reasoning="at 800 MHz the eye closes when the board is warm", risks=["camera frame rate falls to 24 fps"],
         if_wrong="go to 533 MHz and drop the preview stream", agent="byte")  # fmt: skip
    tell.runs(
        "mem1",
        "Memory test",
        "memtester 512M 3",
        "FAILURE: 0x5555 != 0x5557 at offset 0x01f3a",
        ok=False,
        seconds=300,
        item=4,
    )
    tell.runs("mem2", "Memory test", "memtester 512M 3", "Done. all tests ok", seconds=910, item=4)
    tell("ddrdone", "update", "DDR stable on 1, 3 and 4", step=4, step_status="completed", agent="byte")
    tell.at("2026-06-09 08:40")
    tell.says("kwame", "Kwame wants a photo of every rework in the wiki.")
    tell.says("noheat", "Don't use the hot air gun in the open office, only in the lab.")
    tell("kern", "update", "Kernel 6.6 hangs at the PMIC driver", step=5, step_status="active", agent="byte")
    tell(
        "pmic",
        "remember",
        "The PMIC answers on I2C address 0x4B, the device tree said 0x48",
        type="discovery",
        agent="byte",
    )
    tell(
        "dts",
        "log_action",
        "Edit revc.dts",
        files=[{"path": "/srv/project/dts/revc.dts", "change": "modified"}],
    )
    tell.runs("commit1", "Commit the device tree", "git commit -am 'dts: PMIC address on rev C'", "[bringup 81c2d0e] dts: PMIC address on rev C",
              seconds=1)  # fmt: skip
    tell(
        "kerndone",
        "update",
        "Kernel boots to a shell in 3.4 s",
        step=5,
        step_status="completed",
        agent="byte",
    )
    tell.at("2026-06-09 11:15")
    tell(
        "sens",
        "update",
        "Sensors: IMU and barometer answer, the magnetometer does not",
        step=6,
        step_status="active",
        agent="volt",
    )
    tell("smoke", "remember", "Board 4 drew 1.9 A and smoked, U9 is dead", type="error", agent="volt")
    tell(
        "order", "intent", what="Order 10 pieces of U9 at Farnell", verify="order list of the Farnell account"
    )
    tell(
        "orderok", "outcome", intent=tell.seq_of("order"), outcome="did", note="arrive on Thursday, 84 pounds"
    )
    tell(
        "ship", "intent", what="Send board 5 to the EMC lab by courier", verify="tracking page of the courier"
    )
    tell("ja", "update", "磁気センサーは来週の月曜日に届きます。", agent="volt")
    tell(
        "sleep0",
        "remember",
        "Sleep current measured with the debugger attached is useless, it adds 300 µA",
        type="discovery",
        agent="volt",
    )
    tell.at("2026-06-09 15:20")
    tell("magdrop", "plan_replace",
         ["Power the rails", "Flash the bootloader", "Get a serial console", "Bring up DDR", "Boot the kernel",
          "Enable the sensors", "Measure sleep current", "Write the errata sheet", "Release firmware 0.9"],
         reason="The soak rack is booked by the pump team until July, and manufacturing asked for errata")  # fmt: skip
    tell(
        "sensdone",
        "update",
        "IMU and barometer enabled, magnetometer left out of 0.9",
        step=6,
        step_status="completed",
        agent="volt",
    )
    tell("slp", "update", "Measuring sleep current", step=7, step_status="active", agent="volt")
    tell.runs("slp1", "Measure sleep current of board 1", "ppk2 --avg 60", "avg 31.7 uA", seconds=62, item=7)
    tell(
        "leak",
        "remember",
        "The level shifter U4 leaks 20 µA because its enable pin floats",
        type="discovery",
        agent="volt",
    )
    tell("de", "update", "Pulldown an U4 eingelötet, jetzt 11,2 µA im Schlaf.", agent="volt")
    tell("q1", "remember", "Do we ship 0.9 with secure boot off?", type="question")
    tell("stuck", "update", "Board 3 still missing", next="Measure board 3 after the pulldown",
         blockers=["the thermal chamber is occupied until 17:00"], agent="volt")  # fmt: skip
    tell.at("2026-06-10 08:30")


def taxes(tell: Ledger) -> None:
    """Office work: the tax return of a small theatre, with receipts, a tax office and a bank."""
    tell.at("2026-02-09 08:50")
    tell.begin(
        "request", "File the 2025 tax return of the theatre",
        ["Collect the receipts", "Reconcile the bank account", "Book the ticket sales", "Value the costume stock",
         "Compute the depreciation", "Fill in the forms", "Have Mrs. Adeyemi review it", "Submit to the tax office",
         "Archive the papers"],
        request="Please prepare the tax return of the Lantern Theatre for 2025. The deadline is 31 March. Don't contact the tax "
        "office yourself. Every receipt above 250 euros needs a second look. Nothing is submitted before Mrs. Adeyemi has "
        "signed. Keep the donors anonymous in all notes.",
        goal="The return is accepted without questions",
    )  # fmt: skip
    tell("coll", "update", "Scanning receipts, 340 so far", step=1, step_status="active")
    tell(
        "lost", "remember", "The receipts of August are missing, the box got wet in the cellar", type="error"
    )
    tell(
        "copies",
        "remember",
        "The lighting company and the printer sent copies of their August invoices",
        type="discovery",
    )
    tell("colldone", "update", "All 1,127 receipts scanned", step=1, step_status="completed")
    tell.at("2026-02-09 11:05")
    tell("rec", "update", "Reconciling, January to June matches", step=2, step_status="active")
    tell(
        "diff",
        "remember",
        "Difference of 84.20 euros in September: a ticket refund was booked twice",
        type="discovery",
    )
    tell("recdone", "update", "Bank account reconciled to the cent", step=2, step_status="completed")
    tell.at("2026-02-09 16:20")
    tell("vat", "decide", choice="Book tickets at the reduced rate of 7 %", title="VAT on tickets", options=["19 %", "exempt"],
         reasoning="the exemption certificate of the city has expired", risks=["9,300 euros to pay back if the certificate is renewed late"],
         if_wrong="file a corrected return within four years")  # fmt: skip
    tell("book", "update", "Booking the ticket sales of 212 shows", step=3, step_status="active")
    tell.runs(
        "imp1",
        "Import the ticket sales",
        "ledgercli import sales2025.csv",
        "error: line 4,019: date 31.02.2025",
        ok=False,
        seconds=12,
        item=3,
    )
    tell("feb31", "remember", "Line 4,019 of the sales file has the date 31 February", type="error")
    tell.runs(
        "imp2",
        "Import the ticket sales",
        "ledgercli import sales2025.csv",
        "imported 18,442 tickets, total 301,775.50",
        seconds=15,
        item=3,
    )
    tell("bookdone", "update", "Ticket sales are booked: 301,775.50 euros", step=3, step_status="completed")
    tell.at("2026-02-10 09:10")
    tell.says("nocloud", "Please keep the scans off any cloud drive, only on the NAS.")
    tell.says("donor", "You may use the donors' amounts, but never their names.")
    tell("cost", "update", "Counting costumes with Bruno from the wardrobe", step=4, step_status="active")
    tell(
        "nolist",
        "exclude",
        what="Value the costumes by the insurance list",
        why="the list is from 2011 and has half of them",
    )
    tell("stock", "update", "Costume stock valued at 46,200 euros", step=4, step_status="completed")
    tell("safe", "remember", "The key of the archive hangs behind the bar", type="context")
    tell("afa", "update", "Depreciation: the sound desk runs over seven years", step=5, step_status="active")
    tell("taxno", "set", "TAX_NUMBER", "133/5720/0891")
    tell("it", "update", "Il mixer è costato 14.800 euro nel 2023.")
    tell.at("2026-02-10 14:30")
    tell("afadone", "update", "Depreciation comes to 8,940 euros", step=5, step_status="completed")
    tell("forms", "update", "Filling in the forms", step=6, step_status="active")
    tell("ask", "intent", what="Ask the bank for the interest statement", verify="sent mails to the bank")
    tell("askok", "outcome", intent=tell.seq_of("ask"), outcome="did", note="comes by post until Friday")
    tell(
        "pay",
        "intent",
        what="Transfer the advance payment of 3,150 euros",
        verify="statement of the current account",
    )
    tell("replan", "plan_replace",
         ["Collect the receipts", "Reconcile the bank account", "Book the ticket sales", "Value the costume stock",
          "Compute the depreciation", "Fill in the forms", "Apply for the certificate of the city", "Have Mrs. Adeyemi review it",
          "Submit to the tax office"],
         reason="The city renews the certificate if we apply by 20 February; the archive is done by the accountant from now on")  # fmt: skip
    tell("de", "update", "Frau Adeyemi ist ab dem 2. März im Urlaub.")
    tell("q1", "remember", "Do we deduct the premiere party?", type="question")
    tell("q2", "remember", "Who signs for the board?", type="question")
    tell(
        "a2",
        "remember",
        "Treasurer Ilkay Demir signs for the board",
        type="discovery",
        resolves=tell.seq_of("q2"),
    )
    tell("stuck", "update", "Forms are filled in except for the interest", next="Enter the interest once the statement is here",
         blockers=["the interest statement of the bank is not here yet"])  # fmt: skip
    tell.at("2026-02-11 08:15")
