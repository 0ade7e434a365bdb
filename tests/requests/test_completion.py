"""Reports of completion, in the languages that reports are read in."""

from __future__ import annotations

from ringbolt.requests.completion import says_done


def test_a_report_of_completion_is_one_in_every_language() -> None:
    reports = [
        "Done. The invoices are rounded.",
        "Fertig. Die Rechnungen werden auf ganze Cent gerundet.",
        "Terminé. Les factures sont arrondies et tous les tests passent.",
        "Hecho. Las facturas se redondean y todas las pruebas pasan.",
        "Fatto. Le fatture sono arrotondate.",
        "Klaar. De facturen worden afgerond.",
        "Pronto. As faturas são arredondadas.",
        "完成了。发票现在四舍五入到分，所有测试都通过。",
        "完了しました。請求書は丸められます。",
    ]
    assert [report for report in reports if not says_done(report)] == []


def test_a_message_with_open_work_or_a_question_does_not_report_completion() -> None:
    others = [
        "",
        "The export is not done yet.",
        "Done. Shall I commit it?",
        "Noch nicht fertig: der Export fehlt.",
        "Fertig. Soll ich die Änderungen committen?",
        "Je n'ai pas encore terminé l'export.",
        "Todavía no está hecho.",
        "まだ終わっていません。",
        "还没有完成。",
    ]
    assert [other for other in others if says_done(other)] == []
