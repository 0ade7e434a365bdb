# ruff: noqa: E501 - tables and patterns
"""The words that questions are made of, in nine languages: one table for each.

A line of a table names a concept and lists its words and phrases. Words of these tables say what is asked for;
all others are the subject of a question. `GLOSSARY` translates common words of subjects, so that a question
in one language finds a record in English. Accents are left out everywhere (`folded`).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from unicodedata import combining, normalize

from ..model.lazy_regex import lazy_regex

LANGUAGES: tuple[str, ...] = ("en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja")

_EN = """
what: what, which, whatever
who: who, whom, whose, which person, which agent, which of us, which colleague, which team, by whom, whos
when: when, what time, which day, which date, which dates, what date, what day, date of, dates of, dates for, date for, due, deadline, how long ago
where: where, location, location of, whereabouts
why: why, how come, what made, for what reason, motivation
how: how
many: how many, how much, how big, how large, how often, how high, how fast, how old, how tall, how heavy, how wide, how deep, how thick, how far away, how cold, how hot, how warm, how strong, how loud, how expensive, how cheap, how small, how slow, how close, number of, count of, amount of
long: how long, how much time, duration, longest, time spent, time taken, slowest, how many minutes, how many hours, how many days
percent: percent, percentage, in total, overall, altogether, in numbers, in figures
be: is, are, was, were, am, be, been, being, does, do, did, has, have, had, get, got, gets, getting, become, became
may: may, can, could, might, allowed, permitted, allow, allows, okay to, ok to, safe to, free to, permissible, authorised, authorized
must: must, have to, has to, need to, needs to, required to, obliged, should, shall, ought, necessary, required, mandatory, supposed to
not: not, no, never, without, nothing, none, cannot
we: i, we, agent, agents, the agent, you, me, us, my, our, ours, your, they, them, one, anybody else, someone, somebody, anyone, anybody, he, she, myself, everybody
user: user, users, human, boss
done: done, complete, completed, finish, finished, accomplished, achieved, ready, ticked off, checked off, implemented, got through, behind us, through with
open: left, remain, remains, remaining, open, outstanding, pending, unfinished, incomplete, missing, todo, todos, to do, yet to, still to, lacking, undone, what else, rest, still
next: next, now what, what now, afterwards, upcoming, after that, after this, following, then, comes after, proceed, continue, carry on, go on, from here
now: now, current, currently, at the moment, right now, in progress, under way, underway, active, working on, busy with, ongoing, presently, doing, in the middle of, these days
step: step, steps, step number, number of the step, item, items, task, tasks, part of the plan, stage of the plan
plan: plan, plans, roadmap, agenda, schedule
drop: dropped, drop, take out, took out, leave out, removed, scrap, cut from, taken out, left out, removed from the plan, taken off, scrapped, cancelled, no longer in, thrown out, throw out, threw out, kick out, kicked out, fell out, any more, anymore, abandoned
change: change, changed, changes, changing, create, created, revise, revised, replan, replanned, different, modify, modified, edit, edited, edits, touch, touched, altered, updated, update
old: old, previous, former, earlier, original, originally, initial, initially, first, at the start, at the beginning, before, used to be, plan a, verbatim, begin with
new: new, added, add, additional, extra, newly
compare: compared, compare, difference, versus, than
decide: decide, decided, decision, decisions, choose, chose, chosen, choice, choices, pick, picked, opt, opted, select, selected, go for, go with, went with, settle on, settled on, agree on, agreed on, went for
option: option, options, alternative, alternatives, considered, candidates
use: use, used, using, uses, take, took, taken, rely on
reason: reason, reasons, rationale, reasoning, because, justification, argument for
risk: risk, risks, risky, speaks against, speak against, argues against, cons, weakness, weaknesses, weak points, downside, downsides, drawback, drawbacks, danger, dangers, disadvantage, disadvantages, trade-off, tradeoff, tradeoffs, caveat, caveats, could go wrong, might go wrong
fallback: fallback, what if, what then, fall back, fall-back, plan b, if wrong, is wrong, was wrong, were wrong, be wrong, turns out, wrong choice, backup plan, otherwise, contingency, roll back, way back
fail: fail, failed, fails, failing, failure, failures, error, errors, went wrong, go wrong, gone wrong, wrong, wrong with, is wrong with, was wrong with, are wrong with, were wrong with, broke, broken, break, breaks, crash, crashed, crashes, dead end, dead ends, did not work, not work, not working, mistake, mistakes, unsuccessful
fix: fix, fixed, fixes, solve, solved, solves, resolve, resolved, repair, repaired, remedy, remedied, worked around, work around, overcome, overcame, sorted out, got rid of, get rid of, cured, sort out
try: try, tried, trying, attempt, attempts, attempted, approach, approaches
avoid: avoid, not try, not repeat, not do again, ruled out, pitfall, pitfalls, steer clear, try again, excluded
forbid: forbid, forbade, forbidden, prohibited, banned, off limits, must not, not allowed, not permitted, taboo, prohibit
reject: reject, rejected, rejects, refuse, refused, decline, declined, turned down, veto, vetoed, said no, say no, not like, not want, dislike, denied
ask: ask, asked, asks, request, requested, requests, want, wanted, wants, wish, prompt, brief, assignment, order of the user, demand
say: say, said, says, tell, told, mention, mentioned, wrote, write to, message
last: last, latest, in the end, at the end, most recent, most recently, newest, just, recently, recent, final, lately
rule: instruction, instructions, rule, rules, constraint, constraints, requirement, requirements, preference, preferences, guideline, guidelines, restrictions, conditions
goal: goal, goals, objective, objectives, purpose, aim, acceptance, acceptance criteria, definition of done, success criteria, accepted, criteria, trying to achieve, want to achieve, achieve, hope to achieve, want to reach, about
value: value, values, set, set to, equal, equals
names: variables, names, identifiers, key details, key facts, versions, tickets, paths, details
file: file, files, modules, scripts
commit: commit, commits, committed
block: block, blocks, blocked, blocking, blocker, blockers, stuck, hold up, holds up, held up, holding up, hold back, held back, holding us, holding, in the way, in our way, in my way, in your way, obstacle, obstacles, impediment, prevent, prevents, preventing, stops us, stopping us, keeps us from, keep us from
problem: problem, problems, issue, issues, trouble, difficulty, difficulties, concern, concerns
wait: wait, waits, waiting, await, awaiting
question: question, questions, unclear, unanswered, clarify, clarified, unresolved, unsure
effect: side effect, side effects, double-check, double check, before repeating, outcome unknown, in flight, unknown, verify before, half done, might have happened
verify: verify, verified, proven, proof, evidence, confirmed, confirm
report: only reported, unverified, not verified, unproven, not proven
pass: pass, passed, passes, passing, match, matches, matched, green, succeed, succeeded, successful, success, work, works, worked, ok, okay, clean, fine
result: result, results, outcome, outcomes, conclusion, end result, final answer, turn out, turned out
happen: happen, happened, take place, took place, taken place, happens, happening, going on, went on, occurred, been up to, missed, miss, activity
learn: learn, learned, learnt, find out, found out, discover, discovered, discovery, discoveries, finding, findings, insight, insights, odd, strange, unusual, noteworthy, remarkable, interesting, notes, know about, known about
status: status, state, progress, how far, how far along, stand, stands, situation, state of play, state of things, how is it going, things going, coming along, shape
recap: recap, summary, story, summarise, summarize, overview, tldr, so far
standing: did we stop, did i stop, resume, pick up, catch me up, catch up, bring me up, up to speed, where was i, where were we, left off, leave off, remind me, fill me in, brief me
phase: phase, phases, milestone, stage
own: works on, working on this, claimed, owner, owns, own, assignee, responsible, in charge, holds
already: already, yet, ever, so far
also: and, also, other, others, plus, as well, or, but, any, anything, something, everything, all, every, each, some, there, please, pls, thanks, hey, so, ok so, again, exactly, really, actually, kind of, sort of, way
go: go, comes, goes, makes, gives, needs, keeps, looks, runs, coming, giving, went, gone, out, make, made, give, gave, given, run, ran, come, came, look, show, list, know, need, needed, happen to, see, let, put, keep, will, would, turn, much, many, lot, thing, things, work needs, matter
the: the, through, along, away, down, around, back, onto, within, a, an, since, after, ago, of, to, in, on, at, for, by, with, from, as, it, its, this, that, these, those, if, than, about the, into, up, off, over, per, via, s, between, during, while, because of, against, instead, not only, his, her, their, here, re, ve, m, d, t, ll, too, very
"""
_DE = """
what: was, welche, welcher, welches, welchen, welchem
who: wer, wem, wen, wessen, von wem
when: wann, um wie viel uhr, an welchem tag, frist
where: wo, wohin
why: warum, wieso, weshalb, aus welchem grund
how: wie
many: wie viele, wie viel, wieviel, wieviele, wie gross, wie oft, anzahl, wie hoch, wie schnell
long: wie lange, dauer, gedauert, dauert, dauerte
percent: prozent, insgesamt
be: ist, sind, war, waren, bin, wird, wurde, wurden, worden, haben, hat, habe, hatte, hatten, sein, werden, gibt
may: darf, durfen, durfte, kann, konnen, konnte, erlaubt, gestattet, zulassig
must: muss, mussen, musste, soll, sollen, sollte, notig, notwendig
not: nicht, kein, keine, keinen, nie, niemals, nichts, ohne
we: ich, wir, man, uns, mich, mir, du, ihr, sie, er, unser, unsere, mein, meine
user: nutzer, benutzer, anwender, user, chef
done: fertig, erledigt, abgeschlossen, geschafft, beendet, getan, vollstandig
open: offen, ubrig, noch offen, verbleibend, bleibt, fehlt, fehlen, ausstehend, unerledigt, noch, rest
next: nachste, nachster, nachstes, nachsten, als nachstes, danach, anschliessend, weiter, weitermachen
now: jetzt, gerade, aktuell, aktuelle, aktueller, momentan, derzeit, gearbeitet, im moment, laufend, woran, arbeiten, arbeite
step: schritt, schritte, schritten, aufgaben, punkt, punkte
plan: plan, plane, plans
drop: gestrichen, fallen gelassen, weggefallen, entfernt, rausgenommen, herausgenommen, verworfen
change: geandert, andern, anderung, anderungen, verandert, angepasst, bearbeitet, umgeplant
old: alte, alter, alten, altes, fruher, frühere, vorherige, ursprunglich, ursprungliche, ursprunglicher, anfangs, zuerst, erste, ersten, am anfang, vorher
new: neu, neue, neuer, neues, hinzugekommen, dazugekommen
decide: entschieden, entscheiden, entscheidung, entscheidungen, gewahlt, wahlen, beschlossen, ausgewahlt, entschluss
use: benutzen, verwenden, nehmen, nutzen, genommen, verwendet, benutzt, gesetzt
reason: grund, grunde, begrundung, weil
risk: risiko, risiken, nachteil, nachteile, gefahr, gefahren
fallback: notfallplan, plan b, ausweichplan, ruckfall, wenn das falsch, falls, ruckfallebene
fail: fehlgeschlagen, gescheitert, fehler, schiefgegangen, schief, schiefgelaufen, kaputt, nicht funktioniert, funktioniert nicht, scheiterte, schlug
fix: behoben, gelost, repariert, geloste, beheben
try: versucht, versuch, versuche, probiert, ausprobiert
avoid: vermeiden, nicht noch einmal, nicht wieder, nochmal versuchen, noch einmal versuchen
forbid: verboten, untersagt, nicht erlaubt, tabu
reject: abgelehnt, zuruckgewiesen, ablehnen
ask: gefragt, gebeten, anfrage, auftrag, aufgabe, wollte, will, wunsch, verlangt, bitte, gewunscht
say: gesagt, sagt, sagte, erwahnt, geschrieben, mitgeteilt
last: letzte, letzter, letzten, letztes, zuletzt, neueste, neuesten, jungste
rule: anweisung, anweisungen, regel, regeln, vorgabe, vorgaben, bedingungen, einschrankungen
goal: ziel, ziele, zweck, abnahmekriterien
value: wert, werte, eingestellt
names: variablen, namen, einzelheiten
file: datei, dateien
commit: commit, commits, committet
block: blockiert, blockieren, blockierer, hindernis, hindert, aufgehalten, steckt, hakt, halt auf, im weg, klemmt, halt, festgefahren
problem: problem, probleme, schwierigkeit, schwierigkeiten
wait: warten, wartet, warte, wartest, worauf
question: frage, fragen, unklar, ungeklart, unbeantwortet
verify: verifiziert, bestatigt, nachgewiesen, gepruft
pass: bestanden, durchgelaufen, grun, erfolgreich, geklappt, klappt, funktioniert, gelaufen
result: ergebnis, ergebnisse, ausgang
happen: passiert, geschehen, passierte, los, gemacht, machen, lief
learn: herausgefunden, gelernt, gefunden, erkenntnisse, erkenntnis
status: stand, status, wie weit, zustand, lage, sieht es aus, lauft es, fortschritt
recap: zusammenfassung, uberblick, zusammengefasst
standing: stehen geblieben, auf den stand, waren wir
phase: phase, meilenstein
own: verantwortlich, zustandig, gehort, bearbeitet das
already: schon, bereits
also: und, auch, oder, alles, etwas, alle, bitte, mal, denn, eigentlich, sonst, aber
go: raus, gehen, geht, ging, gegangen, gegeben, lassen, laufen, machst, kommt, kommen, tun, mussten, sehen, zeig, zeige, liste, liegt, liegen, steht
the: der, seit, die, das, den, dem, des, ein, eine, einen, einem, einer, im, in, am, an, auf, aus, bei, mit, von, vom, zu, zum, zur, fur, gegen, uber, unter, es, dass, wenn, dies, diese, dieser, dieses, als, so, sich, nach, um, durch, daran, dazu, hier, uns, ihm, ihn, da
"""
_FR = """
what: qu'est-ce que, qu'est-ce qui, que, quoi, quel, quelle, quels, quelles, qu
who: qui, par qui
when: quand, a quelle heure, quel jour, quelle date, delai, echeance
where: ou
why: pourquoi, pour quelle raison
how: comment
many: combien, combien de, quel nombre, nombre de
long: combien de temps, duree
percent: pourcentage, pour cent, au total
be: est, sont, etait, etaient, a, ont, avons, avez, ai, as, ete, sommes, suis, est-ce, est-ce que, sera, avait, fut, y a-t-il
may: puis-je, peut-on, peut, peux, pouvons, autorise, permis, ai-je le droit, pouvons-nous, pouvoir, droit
must: dois, dois-je, faut, faut-il, doit, devons, devoir, doit-on, oblige
not: pas, ne, n, jamais, aucun, aucune, rien, sans
we: je, nous, on, tu, vous, moi, mon, ma, mes, notre, nos, j, il, elle, ils
user: utilisateur, l'utilisateur, client humain
done: termine, terminee, termines, fini, finie, finis, fait, faite, faits, acheve, accompli, complete
open: reste, restent, reste-t-il, restant, encore, en attente, manque, manquent, inacheve
next: prochain, prochaine, suivant, suivante, ensuite, apres ca, apres cela, continuer, la suite
now: maintenant, actuellement, en ce moment, en cours, actuel, actuelle
step: etape, etapes, tache, taches
plan: plan, plans
drop: retire, retiree, supprime du plan, abandonne, abandonnee, enleve, ecarte, retires
change: change, changee, modifie, modifies, modification, modifications, changement, changements, modifiee
old: ancien, ancienne, precedent, precedente, initial, initiale, d'origine, au debut, premier, premiere, avant, original
new: nouveau, nouvelle, nouveaux, ajoute, ajoutee
decide: decide, decision, decisions, choisi, choix, choisir, opte, retenu
use: utilise, utiliser, utilisons, pris, prendre
reason: raison, raisons, motif
risk: risque, risques, inconvenient, inconvenients, danger
fallback: plan b, solution de repli, repli, secours
fail: echoue, echec, echecs, erreur, erreurs, plante, casse, mal tourne, pas marche, pas fonctionne
fix: resolu, regle, repare, corrige, resolue
try: essaye, essaie, tente, tentative, tentatives
avoid: eviter, ne plus essayer, reessayer, essayer a nouveau
forbid: interdit, interdite, interdits, defendu
reject: refuse, rejete, rejetee, decline
ask: demande, demandee, demander, voulait, veut, souhaite, requete, consigne initiale
say: dit, disait, ecrit, mentionne
last: dernier, derniere, derniers, dernieres, recent, recente
rule: instruction, instructions, regle, regles, contrainte, contraintes, consigne, consignes, exigences
goal: but, objectif, objectifs, finalite, criteres
value: valeur, valeurs
names: variables, noms
file: fichier, fichiers
commit: commit, commits
block: bloque, bloquee, bloquer, bloquent, blocage, obstacle, empeche, coince
problem: probleme, problemes, souci, soucis, difficulte
wait: attend, attendons, attendre, attente, attend-on, attendons-nous
question: question, questions, pas clair, sans reponse
verify: verifie, verifiee, prouve, confirme
pass: passe, passent, passes, reussi, reussis, reussie, vert, marche, fonctionne
result: resultat, resultats, issue, bilan
happen: passe-t-il, est passe, est-il passe, il passe, arrive, produit, passe hier
learn: appris, decouvert, trouve, decouvertes, constats
status: statut, etat, avancement, situation, en sommes-nous, en est, en est-on, ou en etions-nous, ou en sommes-nous, ou en est-on, ou en est, ou en
recap: resume, recapitule, apercu, point
phase: phase, jalon
own: responsable, s'occupe, charge
already: deja
also: et, aussi, ou bien, tout, tous, toutes, quelque chose, svp, s'il te plait, s'il vous plait, mais
go: faire, fais, fait-on, aller, va, parti, partie, partis, donne, donner, montre, liste, sorti
the: le, depuis, la, les, l, un, une, des, du, de, d, au, aux, en, dans, sur, par, pour, avec, ce, cet, cette, ces, c, se, s, t, y, si, sous, contre, chez, dont, lui, leur, son, sa, ses, c'est
"""
_ES = """
what: que, cual, cuales
who: quien, quienes, de quien, por quien
when: cuando, a que hora, que dia, fecha limite, plazo
where: donde
why: por que, por que razon
how: como
many: cuantos, cuantas, cuanto, cuanta, numero de
long: cuanto tiempo, cuanto tardo, cuanto duro, duracion, tardo
percent: porcentaje, por ciento, en total
be: es, son, esta, estan, era, estaba, fue, fueron, ha, han, hemos, he, hay, sido, estamos, habia, soy, estabamos, eran
may: puedo, podemos, puede, se puede, permitido, autorizado, permite
must: debo, debemos, debe, tengo que, tenemos que, hay que, obligatorio, hace falta
not: no, nunca, jamas, ningun, ninguna, nada, sin
we: yo, nosotros, me, nos, mi, nuestro, nuestra, tu, usted, se, le
user: usuario, usuaria
done: hecho, hecha, hechos, completados, completadas, terminados, terminado, terminada, completado, completada, listo, lista, acabado, concluido
open: queda, quedan, falta, faltan, pendiente, pendientes, por hacer, restante, aun, todavia
next: siguiente, proximo, proxima, sigue, despues, a continuacion, seguir, continuar
now: ahora, actual, actualmente, en curso, en este momento
step: paso, pasos, tarea, tareas
plan: plan, planes
drop: quito, quitado, eliminado del plan, descarto, descartado, se elimino, retirado, suprimido, cancelado
change: cambio, cambiado, cambiaron, modifico, modificado, cambios, modificados, modificaron, cambiamos
old: antiguo, antigua, anterior, original, inicial, al principio, primero, primera, antes, viejo
new: nuevo, nueva, anadido, agregado
decide: decidio, decidido, decision, decisiones, elegimos, elegido, escogimos, eleccion, eligio, decidimos
use: usamos, usar, utilizamos, uso, utilizar
reason: razon, motivo, razones
risk: riesgo, riesgos, desventaja, desventajas, inconveniente, peligro
fallback: plan b, alternativa, plan de respaldo
fail: fallo, fallaron, fallado, error, errores, salio mal, falla, no funciono, roto
fix: resuelto, resolvio, solucionado, arreglado, reparado, resolvieron
try: intento, intentado, probado, intentos, probo
avoid: evitar, no repetir, intentar de nuevo, volver a intentar, repetir
forbid: prohibido, prohibio, prohibe, vetado
reject: rechazo, rechazado, nego
ask: pidio, pedido, solicitud, peticion, queria, quiere, encargo, solicito
say: dijo, dice, dicho, menciono, escribio
last: ultimo, ultima, ultimos, ultimas, reciente, mas reciente
rule: instruccion, instrucciones, regla, reglas, restricciones, requisitos
goal: objetivo, objetivos, meta, finalidad
value: valor, valores
names: variables, nombres
file: archivo, archivos, fichero, ficheros
commit: commit, commits
block: bloquea, bloqueado, bloqueando, bloqueo, impide, obstaculo, atascado, frena
problem: problema, problemas, dificultad
wait: espera, esperamos, esperando, esperar
question: pregunta, preguntas, duda, dudas, sin responder
verify: verificado, comprobado, confirmado
pass: pasaron, pasan, paso la, exito, funciona, funciono, verde, aprobado
result: resultado, resultados, desenlace
happen: paso, pasado, ocurrio, sucedio, hicimos, ha pasado
learn: aprendimos, descubrimos, averiguado, hallazgos, descubierto
status: estado, situacion, progreso, como va, vamos
recap: resumen, resume, panorama
standing: donde estabamos, donde quedamos, donde nos quedamos
phase: fase, hito
own: responsable, encargado, se encarga
already: ya
also: y, tambien, o, todo, todos, algo, por favor, pero
go: hacer, hace, ir, va, salio, envio, dar, dio, muestra, lista de
the: el, la, los, las, un, una, unos, de, del, al, a, en, con, para, por, lo, su, sus, este, esta vez, ese, esa, si, entre, sobre, contra, desde, hasta
"""
_PT = """
what: o que, que, qual, quais
who: quem, de quem, por quem
when: quando, a que horas, que dia, prazo
where: onde
why: por que, porque, por qual razao
how: como
many: quantos, quantas, quanto, quanta, numero de
long: quanto tempo, duracao, demorou
percent: porcentagem, percentagem, por cento, no total
be: e, sao, esta, estao, era, estava, foi, foram, ha, tem, temos, sido, estamos, estavamos, ser
may: posso, podemos, pode, permitido, autorizado
must: devo, devemos, deve, tenho que, temos que, preciso, precisa, obrigatorio
not: nao, nunca, jamais, nenhum, nenhuma, nada, sem
we: eu, nos, me, meu, minha, nosso, nossa, voce, a gente
user: usuario, utilizador
done: feito, feita, feitos, terminado, concluido, concluida, pronto, pronta, acabado, completo
open: falta, faltam, resta, restam, pendente, pendentes, por fazer, ainda, sobra
next: proximo, proxima, seguinte, depois, a seguir, continuar
now: agora, atual, atualmente, em andamento, neste momento
step: passo, passos, etapa, etapas, tarefa, tarefas
plan: plano, planos
drop: retirado, removido do plano, descartado, cortado, eliminado, cancelado, abandonado
change: mudou, mudado, alterado, alterados, mudanca, mudancas, modificado, modificados, mudamos
old: antigo, antiga, anterior, original, inicial, no inicio, primeiro, primeira, antes
new: novo, nova, adicionado, acrescentado
decide: decidiu, decidido, decisao, decisoes, escolhemos, escolhido, escolha, decidimos
use: usamos, usar, utilizamos, utilizar
reason: razao, motivo, razoes
risk: risco, riscos, desvantagem, desvantagens, perigo
fallback: plano b, alternativa
fail: falhou, falharam, erro, erros, falha, deu errado, quebrou, nao funcionou
fix: resolvido, consertado, corrigido, reparado, resolveu
try: tentou, tentamos, tentado, tentativa, tentativas
avoid: evitar, nao repetir, tentar de novo, tentar novamente, repetir
forbid: proibido, proibiu, proibe
reject: rejeitou, rejeitado, recusou
ask: pediu, pedido, solicitacao, queria, quer
say: disse, diz, dito, mencionou
last: ultimo, ultima, ultimos, ultimas, recente
rule: instrucao, instrucoes, regra, regras, restricoes, requisitos
goal: objetivo, objetivos, meta, finalidade
value: valor, valores
names: variaveis, nomes
file: arquivo, arquivos, ficheiro, ficheiros
commit: commit, commits
block: bloqueia, bloqueado, bloqueando, bloqueio, impede, impedindo, obstaculo, travado
problem: problema, problemas, dificuldade
wait: espera, esperamos, esperando, aguardando, esperar
question: pergunta, perguntas, duvida, duvidas, sem resposta
verify: verificado, comprovado, confirmado
pass: passaram, passou, passam, sucesso, funciona, funcionou, verde
result: resultado, resultados
happen: aconteceu, acontece, ocorreu, fizemos
learn: aprendemos, descobrimos, descoberto, descobertas
status: estado, situacao, andamento, progresso, como vai
recap: resumo, panorama
standing: onde paramos, onde estavamos
phase: fase, marco
own: responsavel, encarregado
already: ja
also: e tambem, tambem, ou, tudo, todos, algo, por favor, mas
go: fazer, faz, ir, vai, saiu, enviou, dar, mostre, liste
the: o, a, os, as, um, uma, de, do, da, dos, das, ao, em, no, na, nos, nas, com, para, por, pelo, pela, se, seu, sua, este, esta, esse, isso, entre, sobre, contra, desde, ate
"""
_IT = """
what: che, cosa, che cosa, quale, quali, qual, cos
who: chi, da chi
when: quando, a che ora, che giorno, scadenza
where: dove
why: perche, per quale motivo, come mai
how: come
many: quanti, quante, quanto, quanta, numero di
long: quanto tempo, durata, durato
percent: percentuale, per cento, in totale
be: e, sono, era, erano, e stato, e stata, stato, stata, stati, state, ha, hanno, abbiamo, ho, siamo, eravamo, c'e, ci sono, stiamo, sta
may: posso, possiamo, puo, si puo, permesso, consentito, autorizzato, lecito
must: devo, dobbiamo, deve, bisogna, necessario, obbligatorio
not: non, mai, nessun, nessuna, niente, nulla, senza
we: io, noi, mi, ci, mio, mia, nostro, nostra, tu, voi
user: utente, l'utente
done: fatto, fatta, fatti, finito, finita, finiti, completato, completata, completati, terminato, pronto, concluso
open: resta, restano, rimane, rimangono, manca, mancano, da fare, in sospeso, ancora, aperti
next: prossimo, prossima, successivo, successiva, dopo, poi, continuare, proseguire, seguente
now: adesso, ora, attuale, attualmente, in corso, al momento
step: passo, passi, passaggio, passaggi, compito, compiti, fase del piano
plan: piano, piani
drop: tolto, rimosso dal piano, scartato, eliminato, abbandonato, annullato, tagliato
change: cambiato, cambiata, modificato, modificati, modifica, modifiche, cambiamento, cambiati
old: vecchio, vecchia, precedente, originale, iniziale, all'inizio, primo, prima
new: nuovo, nuova, aggiunto, aggiunta
decide: deciso, decisione, decisioni, scelto, scelta, scelte, scegliere
use: usiamo, usare, utilizziamo, usato
reason: motivo, ragione, motivi
risk: rischio, rischi, svantaggio, svantaggi, pericolo
fallback: piano b, alternativa, ripiego
fail: fallito, fallita, falliti, errore, errori, andato storto, rotto, non ha funzionato
fix: risolto, riparato, sistemato, risolta
try: provato, tentato, tentativo, tentativi
avoid: evitare, non ripetere, riprovare, provare di nuovo, ritentare
forbid: vietato, proibito, vieta
reject: rifiutato, respinto
ask: chiesto, richiesta, voleva, vuole, richiesto
say: detto, dice, scritto, menzionato
last: ultimo, ultima, ultimi, ultime, recente
rule: istruzione, istruzioni, regola, regole, vincoli, requisiti
goal: obiettivo, obiettivi, scopo, meta
value: valore, valori
names: variabili, nomi
file: file, archivi
commit: commit
block: blocca, bloccato, bloccati, blocco, impedisce, ostacolo, ferma
problem: problema, problemi, difficolta
wait: aspetta, aspettiamo, aspettando, attesa, attendiamo
question: domanda, domande, dubbio, dubbi, senza risposta
verify: verificato, provato che, confermato
pass: passati, passato, passano, superato, superati, riuscito, funziona, funzionato, verde
result: risultato, risultati, esito
happen: successo, accaduto, succede, avvenuto
learn: imparato, scoperto, scoperte, capito
status: stato del, situazione, avanzamento, a che punto, come va, procede
recap: riassunto, riepilogo, panoramica
standing: dove eravamo, dove siamo
phase: fase, tappa
own: responsabile, incaricato, si occupa
already: gia
also: ed, anche, oppure, o, tutto, tutti, qualcosa, per favore, ma
go: fare, fa, andare, va, partita, partito, uscita, inviato, dare, mostra, elenca
the: il, lo, la, i, gli, le, l, un, uno, una, di, del, dello, della, dei, degli, delle, d, al, allo, alla, ai, in, nel, nella, con, per, da, dal, su, sul, se, si, suo, sua, questo, questa, quello, tra, fra, contro
"""
_NL = """
what: wat, welk, welke
who: wie, wiens, door wie
when: wanneer, hoe laat, op welke dag, deadline
where: waar
why: waarom, waardoor, om welke reden
how: hoe
many: hoeveel, aantal, hoe groot, hoe vaak
long: hoe lang, duur, duurde, hoelang
percent: procent, percentage, in totaal
be: is, zijn, was, waren, ben, heb, heeft, hebben, had, wordt, werd, worden, geweest
may: mag, mogen, kan, kunnen, toegestaan, geoorloofd
must: moet, moeten, moest, hoeft, verplicht, nodig
not: niet, geen, nooit, niets, zonder
we: ik, we, wij, ons, onze, mijn, je, jij, u, men
user: gebruiker
done: klaar, gedaan, af, afgerond, voltooid, gereed, afgemaakt
open: over, open, resteert, rest, nog, ontbreekt, openstaand, resterend, nog te doen
next: volgende, hierna, daarna, vervolgens, verder, als volgende
now: nu, huidige, momenteel, op dit moment, bezig
step: stap, stappen, taak, taken
plan: plan, plannen
drop: geschrapt, vervallen, verwijderd uit het plan, weggelaten
change: veranderd, gewijzigd, aangepast, wijziging, wijzigingen, verandering
old: oude, oud, vorige, eerder, oorspronkelijk, oorspronkelijke, eerste, aanvankelijk, in het begin, eerst
new: nieuw, nieuwe, toegevoegd
decide: besloten, beslissing, beslissingen, gekozen, keuze, kiezen, besluit, besluiten
use: gebruiken, gebruikt, gebruik, nemen
reason: reden, redenen
risk: risico, risico's, nadeel, nadelen, gevaar
fallback: plan b, noodplan, terugval, alternatief
fail: mislukt, fout, fouten, misgegaan, faalde, kapot, mis, werkte niet, niet gewerkt
fix: opgelost, gerepareerd, verholpen, hersteld
try: geprobeerd, poging, pogingen
avoid: vermijden, niet opnieuw, opnieuw proberen, nog eens proberen
forbid: verboden, niet toegestaan
reject: afgewezen, geweigerd
ask: gevraagd, verzoek, vraagt, wilde, wil, opdracht
say: gezegd, zei, zegt, vermeld
last: laatste, meest recente, laatst
rule: instructie, instructies, regel, regels, eisen, beperkingen
goal: doel, doelen, doelstelling
value: waarde, waarden
names: variabelen, namen
file: bestand, bestanden
commit: commit, commits
block: blokkeert, geblokkeerd, belemmert, obstakel, houdt, tegen, vast, tegenhouden
problem: probleem, problemen, moeilijkheid
wait: wachten, wachtend, wacht, wachten we op
question: vraag, vragen, onduidelijk, onbeantwoord
verify: geverifieerd, bewezen, bevestigd
pass: geslaagd, slaagden, groen, gelukt, werkt, gewerkt
result: resultaat, resultaten, uitkomst
happen: gebeurd, gebeurde, gebeurt, gebeuren
learn: geleerd, ontdekt, gevonden, bevindingen
status: status, stand van zaken, staat, voortgang, hoe staat
recap: samenvatting, overzicht
standing: gebleven, waar waren we
phase: fase, mijlpaal
own: verantwoordelijk, eigenaar, binnen
already: al, reeds
also: en, ook, of, alles, iets, alle, alsjeblieft, maar, er
go: doen, doe, gaan, gaat, ging, gegaan, uit, geven, toon, lijst, verstuurd
the: de, sinds, het, een, van, in, op, aan, uit, bij, met, voor, naar, te, door, om, dat, dit, die, deze, als, dan, over de, zich, hun, tot
"""
_ZH = """
what: 什么, 哪些, 哪个, 哪一个, 哪种, 啥, 哪
who: 谁, 由谁, 哪位
when: 什么时候, 何时, 几点, 哪天, 截止日期, 期限
where: 哪里, 在哪, 哪儿
why: 为什么, 为何, 怎么会
how: 怎么, 如何, 怎样
many: 多少, 几个, 有几, 多大
long: 多久, 多长时间, 花了多长, 用了多久
percent: 百分之, 百分比, 总共, 一共
be: 是, 有, 在, 了, 吗, 呢, 的, 过, 着, 被
may: 可以, 能不能, 能否, 可不可以, 允许, 准许, 能
must: 必须, 需要, 应该, 一定要, 要不要
not: 不, 没有, 没, 未, 别
we: 我们, 我, 你, 你们, 他们, 他, 她, 咱们
user: 用户, 使用者
done: 完成, 做完, 结束, 已完成, 搞定, 弄完
open: 还剩下, 剩下, 还剩, 剩余, 未完成, 没完成, 没做完, 还有, 待办, 还没
next: 下一步, 接下来, 下面, 然后, 之后做, 下一个
now: 现在, 目前, 正在, 当前, 进行到
step: 步骤, 步, 一步, 任务
plan: 计划, 方案
drop: 删掉, 去掉, 取消, 放弃, 移除
change: 改变, 更改, 修改, 变更, 变化, 改了, 改动
old: 旧的, 旧, 原来, 原先, 最初, 以前, 之前, 原始, 一开始
new: 新的, 新增, 新加, 添加
decide: 决定, 选择, 选了, 选用, 选定
use: 使用, 采用, 用的, 用了
reason: 原因, 理由
risk: 风险, 缺点, 坏处, 危险
fallback: 备用方案, 后备, 备选, 退路
fail: 失败, 错误, 出错, 报错, 出问题
fix: 解决, 修复, 修好
try: 尝试, 试过, 试了
avoid: 避免, 不要再, 再试
forbid: 禁止, 不允许, 不许
reject: 拒绝, 否决
ask: 要求, 请求, 想要, 需求
say: 说, 提到, 告诉
last: 最后, 最近, 上一次, 最新, 上次
rule: 指示, 规则, 限制, 约束
goal: 目标, 目的
value: 值, 数值
file: 文件
commit: 提交
block: 阻碍, 卡住, 阻塞, 障碍, 妨碍, 卡在
problem: 问题, 困难
wait: 等待, 等什么, 在等
question: 疑问, 未解决
verify: 验证, 证实, 确认过
pass: 通过, 成功, 正常
result: 结果
happen: 发生, 做了, 干了
learn: 发现, 了解到, 学到
status: 状态, 进展, 进度, 情况, 怎么样
recap: 总结, 概述, 概况
phase: 阶段
own: 负责
already: 已经, 已
also: 和, 也, 都, 全部, 所有, 请, 一下, 哪一步
go: 做, 去, 给, 把, 让, 到, 列出, 看
the: 这, 那, 个, 这个, 那个, 吧, 啊, 与, 对, 从, 为
"""
_JA = """
what: 何, なに, なん, どの, どれ, どんな, どちら
who: 誰, だれ, どなた
when: いつ, 何時, 何日, 期限, 締め切り
where: どこ
why: なぜ, どうして, 何故
how: どう, どうやって, どのように
many: いくつ, いくら, どれくらい, 何個, 何件, 何人
long: どのくらい時間, 何分, 何時間, どれだけかか
percent: パーセント, 合計, 全部で
be: です, ます, ました, でした, います, いますか, ですか, ますか, ある, あります, いる, した, された, ましたか, か
may: してもいい, てもいい, 可能, 許可, できます, していい, ていい
must: しなければ, 必要, べき, なければ
not: ない, ません, いない, なかった
we: 私, 私たち, 我々, あなた
user: ユーザー, ユーザ, 利用者
done: 終わり, 終わった, 完了, 済み, できた, 完成, 終わって
open: 残り, 残って, 残る, 未完了, まだ
next: 次, 次に, つぎ, これから
now: 今, 現在, いま, 進行中
step: ステップ, 作業, タスク, 手順
plan: 計画, プラン
drop: 削られ, 外され, 取り消, 中止, 除外
change: 変更, 変わった, 変え, 修正
old: 古い, 前の, 元の, 最初, 以前
new: 新しい, 追加
decide: 決定, 決め, 選び, 選んだ, 選択
use: 使い, 使って, 使用
reason: 理由, 原因
risk: リスク, 欠点, 危険
fallback: 代替案, 予備
fail: 失敗, エラー, 間違
fix: 解決, 直し, 直った
try: 試し, 試した, 試み
avoid: 避け, もう一度試, 再度試
forbid: 禁止, だめ
reject: 拒否, 却下
ask: 依頼, 頼み, 要求, 求め, 頼まれ
say: 言い, 言った, 伝え
last: 最後, 最近, 直近, 最新
rule: 指示, ルール, 制約
goal: 目標, 目的
value: 値
file: ファイル
commit: コミット
block: 妨げ, ブロック, 止まって, 障害
problem: 問題, 課題
wait: 待って, 待ち
question: 質問, 疑問, 不明
verify: 検証, 確認済
pass: 通り, 通った, 成功, 合格, パス
result: 結果
happen: 起き, 起こ, あった, しました
learn: わかった, 分かった, 発見
status: 状況, 状態, 進捗, 進んで
recap: 要約, まとめ, どこまで
phase: 段階, フェーズ
own: 担当, 責任
already: もう, すでに, 既に
also: と, も, や, すべて, 全部, ください
go: する, すれば, して, すべき, 教えて, いい
the: は, が, を, に, の, で, へ, から, まで, この, その, それ, これ, こと, もの, よ, ね
"""
TABLES: dict[str, str] = dict(zip(LANGUAGES, (_EN, _DE, _FR, _ES, _PT, _IT, _NL, _ZH, _JA), strict=True))

# Common words of subjects that the thesaurus of reports lacks: English, then the same in other languages (words of
# one language apart by spaces).
GLOSSARY = """
delete remove = loschen geloscht entfernen | supprimer supprime effacer | borrar eliminar borrado | apagar excluir eliminar | cancellare eliminare cancellato | verwijderen verwijderd wissen | 删除 删掉 | 削除
database = datenbank | base de donnees | base de datos | banco de dados | database | databank | 数据库 | データベース
tests = tests test | tests essais | pruebas tests | testes | test | tests testen | 测试 | テスト
mail email = mail nachricht | courriel mail | correo | correio | posta mail | mail bericht | 邮件 | メール
send sent = senden gesendet geschickt verschickt schicken | envoyer envoye envoyee | enviar enviado enviada | enviar enviado enviada | inviare inviato inviata spedito | sturen gestuurd verzonden | 发送 发了 | 送信 送り
pay paid = bezahlen bezahlt zahlen gezahlt | payer paye payee | pagar pagado pagada | pagar pago paga | pagare pagato pagata | betalen betaald | 支付 付款 | 支払
transfer = uberweisen uberwiesen uberweisung ubertragen | virement transferer transfere | transferir transferencia | transferir transferencia | trasferire bonifico | overmaken overgemaakt | 转账 转移 | 振込 転送
train trains = zug zuge bahn | train trains | tren trenes | trem comboio | treno treni | trein | 火车 | 電車 列車
book booked = buchen gebucht | reserver reserve reservee | reservar reservado reservada | reservar reservado | prenotare prenotato prenotata | boeken geboekt | 预订 预定 | 予約
buy bought = kaufen gekauft | acheter achete achetee achetes | comprar comprado comprada | comprar comprado | comprare comprato comprati comprata | kopen gekocht | 购买 买了 | 購入 買
approve sign-off = freigeben freigegeben genehmigen genehmigt genehmigung zustimmen | approuver approuve valider valide approbation | aprobar aprobado aprueba | aprovar aprovado aprova | approvare approvato approva | goedkeuren goedgekeurd keurt goedkeuring | 批准 审批 | 承認
review check = prufen gepruft pruft uberpruft | verifier relire revise relit | revisar revisa | revisar revisa | controllare verificare rivede | controleren controleert nakijken | 检查 审查 | 確認 レビュー
password = passwort kennwort | mot de passe | contrasena | senha | password | wachtwoord | 密码 | パスワード
key = schlussel | cle | clave llave | chave | chiave | sleutel | 密钥 | 鍵 キー
backup = sicherung backup | sauvegarde | copia de seguridad respaldo | copia de seguranca backup | backup | reservekopie back-up | 备份 | バックアップ
checksums = prufsumme prufsummen | somme de controle sommes de controle | sumas de comprobacion | somas de verificacion | somme di controllo | controlegetallen | 校验和 | チェックサム
budget = budget haushalt | budget | presupuesto | orcamento | bilancio budget | begroting | 预算 | 予算
price cost costs = preis kosten kostet | prix cout coute | precio coste costo cuesta | preco custo custa | prezzo costo costa | prijs kosten kost | 价格 费用 成本 | 価格 費用
people participants = leute personen teilnehmer | gens personnes participants | personas gente participantes | pessoas participantes | persone partecipanti | mensen deelnemers | 人 参与者 | 人 参加者
report = bericht | rapport | informe reporte | relatorio | rapporto relazione | verslag rapport | 报告 | 報告書 レポート
questionnaire survey = fragebogen umfrage | questionnaire enquete sondage | cuestionario encuesta | questionario pesquisa inquerito | questionario sondaggio | vragenlijst enquete | 问卷 调查 | アンケート
answers responses = antworten | reponses | respuestas | respostas | risposte | antwoorden | 回答 答复 | 回答
programme = programm | programme | programa | programa | programma | programma | 节目单 议程 | プログラム
alcohol wine = alkohol wein | alcool vin | alcohol vino | alcool vinho | alcol vino | alcohol wijn | 酒 | 酒 アルコール
card = karte | carte | tarjeta | cartao | carta | kaart | 卡 | カード
picture image images = bild bilder | image images photo photos | imagen imagenes | imagem imagens | immagine immagini | afbeelding afbeeldingen beeld | 图片 图像 | 画像
user users = nutzern benutzern | utilisateurs | usuarios | usuarios | utenti | gebruikers | 用户 | ユーザー
branch = zweig branch | branche | rama | ramo | ramo | tak | 分支 | ブランチ
port = port | port | puerto | porta | porta | poort | 端口 | ポート
size = grosse | taille | tamano | tamanho | dimensione | grootte | 大小 | サイズ
admin page = adminseite verwaltungsseite | page admin | pagina de administracion | pagina de administracao | pagina di amministrazione | beheerpagina | 管理页面 | 管理画面
production = produktion produktivsystem | production | produccion | producao | produzione | productie | 生产环境 | 本番
migration = migration umzug | migration | migracion | migracao | migrazione | migratie | 迁移 | 移行
deposit = anzahlung kaution | acompte depot | deposito anticipo | deposito sinal | deposito acconto | aanbetaling | 押金 定金 | 手付金
notice announcement = ankundigung hinweis | annonce avis | aviso anuncio | aviso anuncio | avviso annuncio | aankondiging | 通知 公告 | お知らせ 通知
reminder = erinnerung | rappel | recordatorio | lembrete | promemoria | herinnering | 提醒 | リマインダー
changelog = anderungsprotokoll | journal des modifications | registro de cambios | registro de alteracoes | registro delle modifiche | wijzigingslog | 更新日志 | 変更履歴
cause = ursache | cause | causa | causa | causa | oorzaak | 起因 | 原因
test load = lasttest | test de charge | prueba de carga | teste de carga | test di carico | belastingstest | 负载测试 压力测试 | 負荷テスト
requests = anfragen | requetes | solicitudes peticiones | requisicoes pedidos | richieste | verzoeken | 请求 | リクエスト
second = sekunde | seconde | segundo | segundo | secondo | seconde | 每秒 | 毎秒
"""

_WORD = lazy_regex(r"[\w.-]+@[\w.-]+|https?://\S+|[#@]?\w[\w./:-]*\w(?:'\w+)*|\w+(?:'\w+)*|%", 0)
_CJK = lazy_regex("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def folded(text: str) -> str:
    """A text in lower case without accents; the letters of Chinese and Japanese stay as they are."""
    text = text.lower().replace("’", "'").replace("ß", "ss")
    if text.isascii():
        return text
    if _CJK.search(text):
        return "".join(part if _CJK.fullmatch(part) else folded(part) for part in _split_cjk(text))
    return "".join(letter for letter in normalize("NFKD", text) if not combining(letter))


def _split_cjk(text: str) -> list[str]:
    places = [0]
    for found in _CJK.finditer(text):
        places += found.span()
    return [text[start:end] for start, end in pairwise([*places, len(text)]) if end > start]


@cache
def phrases(language: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """For each first word of a phrase, the rest of it and its concept, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in TABLES[language].strip().splitlines():
        concept, _, words = line.partition(":")
        for phrase in words.split(","):
            first, *rest = folded(phrase.strip()).split()
            found.setdefault(first, []).append((tuple(rest), concept))
    return {word: tuple(sorted(rows, key=lambda row: -len(row[0]))) for word, rows in found.items()}


@cache
def glossary(language: str) -> dict[str, tuple[str, ...]]:
    """The English words for words of another language."""
    found: dict[str, tuple[str, ...]] = {}
    place = LANGUAGES.index(language) - 1
    for line in GLOSSARY.strip().splitlines():
        english, _, rest = line.partition(" = ")
        column = rest.split(" | ")[place].strip()
        joined = any(word in ("de", "di", "delle", "des") for word in column.split())
        names = [column] if joined else column.split()
        names = [name for name in names if len(name) > 3 or not name.isascii()]
        for name in names:
            found.setdefault(name, tuple(english.split()))
    return found


@cache
def unspaced(language: str) -> tuple[tuple[str, str], ...]:
    """The words of a language without spaces and their concepts, the longest first."""
    rows = [
        (phrase.strip(), line.partition(":")[0])
        for line in TABLES[language].strip().splitlines()
        for phrase in line.partition(":")[2].split(",")
    ]
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


@cache
def misspellings() -> dict[str, str]:
    """English words of the table with a letter left out or two letters swapped."""
    known = phrases("en")
    found: dict[str, str] = {}
    for word in known:
        if len(word) < 4 or not word.isalpha():
            continue
        for at in range(1, len(word)):
            missing = word[:at] + word[at + 1 :] if at < len(word) - 1 else ""  # a plural is no slip
            swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
            for slip in (missing, swapped):
                if len(slip) > 3 and slip not in known:
                    found.setdefault(slip, word)
    for word in _REAL_WORDS:
        found.pop(word, None)
    return found


# Words of their own that only look like slips.
_REAL_WORDS = (
    "form trial trail sign quiet file files plane place part port parts lean clam stag sate fist last cost"
    " rest past test note rule tool code mode node road ride read star tare sore dive live give said side"
    " here were pass mist wait that what then when than tack want went rik sing"
).split()
