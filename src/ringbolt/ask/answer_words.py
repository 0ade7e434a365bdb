# ruff: noqa: E501 - a table
"""The fixed words of answers in nine languages; recorded texts are quoted as they are."""

from __future__ import annotations

from functools import cache

from .question_lexicon import LANGUAGES

# One line for each phrase: its name, then en | de | fr | es | pt | it | nl | zh | ja.
_TABLE = """
yes = Yes | Ja | Oui | Sí | Sim | Sì | Ja | 是 | はい
no = No | Nein | Non | No | Não | No | Nee | 不是 | いいえ
unknown = Unknown | Unbekannt | Inconnu | Desconocido | Desconhecido | Sconosciuto | Onbekend | 未知 | 不明
probably = Probably | Wahrscheinlich | Probablement | Probablemente | Provavelmente | Probabilmente | Waarschijnlijk | 可能 | おそらく
nothing = Not recorded. | Nicht festgehalten. | Rien d'enregistré. | No consta. | Não consta. | Non registrato. | Niet vastgelegd. | 没有记录。 | 記録がありません。
nearest = Nearest | Am nächsten | Le plus proche | Lo más cercano | O mais próximo | La cosa più vicina | Het dichtst in de buurt | 最接近的 | 最も近いもの
done_of = Completed {done} of {total} steps | {done} von {total} Schritten erledigt | {done} étapes sur {total} terminées | {done} de {total} pasos completados | {done} de {total} passos concluídos | {done} passi su {total} completati | {done} van {total} stappen klaar | 已完成 {done}/{total} 步 | {total} ステップ中 {done} 完了
none_done = None of {total} steps is completed | Keiner von {total} Schritten ist erledigt | Aucune des {total} étapes n'est terminée | Ninguno de {total} pasos está completado | Nenhum de {total} passos está concluído | Nessuno dei {total} passi è completato | Geen van {total} stappen is klaar | {total} 步中没有完成的 | {total} ステップ中、完了はありません
open_of = Open {open} of {total} steps | Offen sind {open} von {total} Schritten | {open} étapes sur {total} restent à faire | Quedan {open} de {total} pasos | Faltam {open} de {total} passos | Restano {open} passi su {total} | Nog {open} van {total} stappen open | 还剩 {open}/{total} 步 | 残り {open}/{total} ステップ
none_open = No step is open ({total} in all) | Von {total} Schritten ist keiner offen | Aucune des {total} étapes n'est ouverte | No queda ningún paso de {total} | Não falta nenhum dos {total} passos | Nessuno dei {total} passi è aperto | Geen van {total} stappen staat nog open | {total} 步都没有剩余 | {total} ステップに残りはありません
no_plan = No plan is recorded. | Kein Plan ist festgehalten. | Aucun plan n'est enregistré. | No consta ningún plan. | Não consta nenhum plano. | Nessun piano registrato. | Er is geen plan vastgelegd. | 没有记录计划。 | 計画の記録がありません。
next = Next | Als Nächstes | Ensuite | Siguiente | A seguir | Poi | Hierna | 下一步 | 次
to_do = To do next | Dann zu tun | À faire ensuite | Por hacer | A fazer | Da fare | Daarna te doen | 接下来要做 | 次にすること
current = Current | Gerade | En cours | En curso | Em andamento | In corso | Nu | 当前 | 現在
no_current = No step is marked as in progress. | Kein Schritt ist in Arbeit. | Aucune étape n'est en cours. | Ningún paso está en curso. | Nenhum passo está em andamento. | Nessun passo è in corso. | Geen stap is bezig. | 没有正在进行的步骤。 | 進行中のステップはありません。
no_next = Nothing is recorded as next. | Nichts ist als Nächstes festgehalten. | Aucune suite n'est enregistrée. | No consta ningún paso siguiente. | Não consta um próximo passo. | Nessun passo successivo registrato. | Er is geen volgende stap vastgelegd. | 没有记录下一步。 | 次の記録がありません。
step = step | Schritt | étape | paso | passo | passo | stap | 步骤 | ステップ
is_open = is still open | ist noch offen | reste à faire | sigue pendiente | ainda está aberto | è ancora aperto | staat nog open | 尚未完成 | 未完了です
is_active = is in progress | ist in Arbeit | est en cours | está en curso | está em andamento | è in corso | is bezig | 正在进行 | 進行中です
is_done = is completed | ist erledigt | est terminée | está completado | está concluído | è completato | is klaar | 已完成 | 完了しています
seems_done = seems to be completed | scheint erledigt zu sein | semble terminée | parece completado | parece concluído | sembra completato | lijkt klaar | 似乎已完成 | 完了したようです
is_failed = failed | ist fehlgeschlagen | a échoué | falló | falhou | è fallito | is mislukt | 失败了 | 失敗しました
is_skipped = was skipped | wurde übersprungen | a été sautée | se omitió | foi pulado | è stato saltato | is overgeslagen | 已跳过 | スキップされました
is_dropped = was dropped from the plan | wurde aus dem Plan gestrichen | a été retirée du plan | se quitó del plan | foi retirado do plano | è stato tolto dal piano | is uit het plan geschrapt | 已从计划中取消 | 計画から外されました
at = at {at} | um {at} | le {at} | el {at} | em {at} | il {at} | om {at} | 于 {at} | {at}
reported = reported | gemeldet | signalé | según se informó | conforme informado | riferito | gemeld | 据报告 | 報告
verified = verified | nachgewiesen | vérifié | verificado | verificado | verificato | geverifieerd | 已验证 | 検証済み
because = because | weil | parce que | porque | porque | perché | omdat | 因为 | 理由
risk = Risk | Risiko | Risque | Riesgo | Risco | Rischio | Risico | 风险 | リスク
if_wrong = If it is wrong | Falls es falsch war | Si c'est faux | Si resulta mal | Se estiver errado | Se è sbagliato | Als het verkeerd is | 如果错了 | 間違っていた場合
options = Options | Möglichkeiten | Options | Opciones | Opções | Opzioni | Opties | 选项 | 選択肢
user = The user | Der Nutzer | L'utilisateur | El usuario | O usuário | L'utente | De gebruiker | 用户 | ユーザー
blocked = Blocked | Blockiert | Bloqué | Bloqueado | Bloqueado | Bloccato | Geblokkeerd | 受阻 | ブロック中
no_block = Nothing is recorded as blocking. | Nichts Blockierendes ist festgehalten. | Aucun blocage n'est enregistré. | No consta ningún bloqueo. | Não consta nenhum bloqueio. | Nessun blocco registrato. | Er is geen blokkade vastgelegd. | 没有记录阻碍。 | 障害の記録はありません。
waiting = Waiting for | Wartet auf | Attend | Espera | Espera | In attesa di | Wacht op | 等待 | 待機
empty_time = Nothing is recorded for that time. | Für diese Zeit ist nichts festgehalten. | Rien n'est enregistré pour ce moment. | No consta nada de ese momento. | Não consta nada nesse período. | Nulla è registrato per quel periodo. | Over die tijd is niets vastgelegd. | 那段时间没有记录。 | その時間の記録はありません。
events = {count} events | {count} Ereignisse | {count} événements | {count} eventos | {count} eventos | {count} eventi | {count} gebeurtenissen | {count} 个事件 | {count} 件
event = 1 event | 1 Ereignis | 1 événement | 1 evento | 1 evento | 1 evento | 1 gebeurtenis | 1 个事件 | 1 件
newest = newest first | das neueste zuerst | du plus récent | del más nuevo | do mais novo | dal più recente | nieuwste eerst | 最新的在前 | 新しい順
took = took {time} | dauerte {time} | a pris {time} | tardó {time} | levou {time} | ha richiesto {time} | duurde {time} | 用时 {time} | 所要時間 {time}
passed = The last run passed | Der letzte Lauf war erfolgreich | La dernière exécution a réussi | La última ejecución pasó | A última execução passou | L'ultima esecuzione è riuscita | De laatste run slaagde | 上次运行通过 | 最後の実行は成功しました
not_passed = The last run failed | Der letzte Lauf ist gescheitert | La dernière exécution a échoué | La última ejecución falló | A última execução falhou | L'ultima esecuzione è fallita | De laatste run mislukte | 上次运行失败 | 最後の実行は失敗しました
verify = verify with | zu prüfen mit | à vérifier avec | verificar con | verificar com | da verificare con | te controleren met | 验证方式 | 確認方法
did = did | ist geschehen | a eu lieu | ocurrió | aconteceu | è avvenuto | is gebeurd | 已发生 | 実行済み
did_not = did not | ist nicht geschehen | n'a pas eu lieu | no ocurrió | não aconteceu | non è avvenuto | is niet gebeurd | 没有发生 | 実行されていません
unknown_outcome = unknown | Ausgang unbekannt | issue inconnue | resultado desconocido | resultado desconhecido | esito sconosciuto | uitkomst onbekend | 结果未知 | 結果不明
dropped = Dropped from the plan | Aus dem Plan gestrichen | Retiré du plan | Quitado del plan | Retirado do plano | Tolto dal piano | Uit het plan geschrapt | 从计划中取消 | 計画から外れたもの
added = Added to the plan | Zum Plan hinzugekommen | Ajouté au plan | Añadido al plan | Acrescentado ao plano | Aggiunto al piano | Aan het plan toegevoegd | 计划新增 | 計画に追加
none_dropped = No step was dropped. | Kein Schritt wurde gestrichen. | Aucune étape n'a été retirée. | No se quitó ningún paso. | Nenhum passo foi retirado. | Nessun passo è stato tolto. | Er is geen stap geschrapt. | 没有取消任何步骤。 | 外されたステップはありません。
old_plan = The plan before, v{version} | Der Plan davor, v{version} | Le plan précédent, v{version} | El plan anterior, v{version} | O plano anterior, v{version} | Il piano precedente, v{version} | Het vorige plan, v{version} | 之前的计划 v{version} | 以前の計画 v{version}
one_plan = The plan was never replaced. | Der Plan wurde nie ersetzt. | Le plan n'a jamais été remplacé. | El plan no se ha cambiado. | O plano nunca foi trocado. | Il piano non è mai stato sostituito. | Het plan is nooit vervangen. | 计划没有变更过。 | 計画は変更されていません。
changed = The plan was changed | Der Plan wurde geändert | Le plan a été changé | El plan se cambió | O plano foi mudado | Il piano è stato cambiato | Het plan is gewijzigd | 计划已变更 | 計画が変更されました
plan = Plan | Plan | Plan | Plan | Plano | Piano | Plan | 计划 | 計画
files_none = No changed file is recorded. | Keine geänderte Datei ist festgehalten. | Aucun fichier modifié n'est enregistré. | No consta ningún archivo cambiado. | Não consta nenhum arquivo alterado. | Nessun file modificato registrato. | Er is geen gewijzigd bestand vastgelegd. | 没有记录修改的文件。 | 変更されたファイルの記録はありません。
more = and {count} more | und {count} weitere | et {count} autres | y {count} más | e mais {count} | e altri {count} | en nog {count} | 另有 {count} 条 | 他 {count} 件
asked = The user asked | Der Auftrag des Nutzers | Demande de l'utilisateur | El usuario pidió | O usuário pediu | L'utente ha chiesto | De gebruiker vroeg | 用户的要求 | ユーザーの依頼
goal = Goal | Ziel | Objectif | Objetivo | Objetivo | Obiettivo | Doel | 目标 | 目標
accepted = Accepted when | Angenommen, wenn | Accepté si | Aceptado si | Aceito se | Accettato se | Geaccepteerd als | 验收条件 | 受け入れ条件
questions = Open questions | Offene Fragen | Questions ouvertes | Preguntas abiertas | Perguntas abertas | Domande aperte | Open vragen | 未解决的问题 | 未解決の質問
failed_list = Failed, newest first | Gescheitert, das neueste zuerst | Échecs, du plus récent | Fallos, del más nuevo | Falhas, da mais nova | Fallimenti, dal più recente | Mislukt, nieuwste eerst | 失败,最新的在前 | 失敗(新しい順)
tried = It was tried and ruled out | Es wurde versucht und ausgeschlossen | Essayé et écarté | Se probó y se descartó | Foi tentado e descartado | Provato ed escluso | Geprobeerd en uitgesloten | 已尝试并排除 | 試して除外されました
"""


@cache
def _words(language: str) -> dict[str, str]:
    place = LANGUAGES.index(language)
    rows = (line.partition(" = ") for line in _TABLE.strip().splitlines())
    return {name: texts.split(" | ")[place].strip() for name, _, texts in rows}


def say(language: str, phrase: str, **values: object) -> str:
    """A fixed phrase in a language."""
    text = _words(language)[phrase]
    return text.format(**values) if values else text
