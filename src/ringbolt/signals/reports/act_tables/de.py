"""German."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="de",
    common=(
        "der die das den dem des ein eine einen einem einer und oder ist sind war waren wird werden wurde"
        " wurden habe hat haben hatte ich wir er sie es ihr mein meine unser unsere sein seine mit von für"
        " damit somit auf an am im in zu zum zur bei nach aus über unter um als auch noch schon nicht kein"
        " keine nur sehr so wie was wer wo wann warum dass wenn ob aber jetzt nun gerade heute gestern"
        " morgen uhr man hier da dort dann alles alle vor bis seit durch gegen ohne bereits endlich mal"
        " stück sich per sei seien worden montag dienstag mittwoch donnerstag freitag samstag sonntag"
    ),
    done=(
        "stattgefunden, fand statt, fertig, erledigt, abgeschlossen, beendet, geschafft, vollständig,"
        " komplett, abgehakt, getan, gemacht, vollbracht, steht bereit, bereit, erfolgreich, unter dach und"
        " fach, vorbei, durch, in ordnung, passt so, ✓, ✔, ✅, ☑, [x], 100 %, 100%"
    ),
    state=(
        "hat geklappt, klappt, funktioniert, hat funktioniert, wir haben, ist offen, ist online, ist live,"
        " ist grün, sind grün, grün, ist da, sind da, liegt vor, liegen vor, steht, stehen, läuft wieder,"
        " ist raus, sind raus, ist drin, ist oben, ist draußen, drauf, dran, sitzt, sitzen, stimmt,"
        " stimmen, passt, passen, ist klar, sind klar, ist ok, ok, ist gelandet, ist weg, sind weg, ohne"
        " fehler, fehlerfrei, keine fehler, ist angekommen, sind angekommen, ist erreichbar"
    ),
    all=(
        "alles, alle schritte, alle punkte, alle aufgaben, der ganze plan, der rest, alles andere,"
        " sämtliche schritte, das ganze"
    ),
    begun=(
        "beginne, begonnen, fange an, angefangen, starte, gestartet mit, bin dabei, bin gerade, gerade"
        " dabei, gerade, arbeite an, in arbeit, läuft noch, läuft gerade, mache weiter, weiter mit, jetzt,"
        " nun, als nächstes, dabei, warte auf, in bearbeitung, wird gerade, werden gerade, am laufen, sitze"
        " an, kümmere mich, los geht's, los gehts"
    ),
    going_on="wird gerade, werden gerade, wird noch, werden noch",
    failed=(
        "fehlgeschlagen, gescheitert, schlägt fehl, schlug fehl, geht nicht, ging nicht, klappt nicht,"
        " klappte nicht, funktioniert nicht, abgebrochen, abgestürzt, abgelehnt, verweigert, fehler, kaputt,"
        " blockiert, hängt, konnte nicht, unmöglich, rot, ausgebucht, schiefgegangen, abgesagt"
    ),
    partly=(
        "zwei drittel, zwei dritteln, ein drittel, drei viertel, drittel, dritteln, zur hälfte, halb, halb"
        " fertig, teilweise, teils, fast, beinahe, größtenteils, bisher, bis jetzt, außer, bis auf, fehlt"
        " noch, fehlen noch, die hälfte, hälfte"
    ),
    also="auch, ebenfalls, übrigen, restlichen, anderen, letzten, rest",
    still="noch, weiterhin",
    planned=(
        "werde, werden wir, will, wollen, muss, müssen, soll, sollte, sollen, plane, vorhabe, möchte, kann"
        " dann, steht an, folgt, kommt noch, wird noch"
    ),
    deferred=(
        "morgen, später, nächste woche, nachher, demnächst, am montag, am dienstag, am mittwoch, am"
        " donnerstag, am freitag, heute abend, bald, danach, übermorgen"
    ),
    condition="wenn, sobald, falls, bevor, bis, nachdem, ob, damit, weil, obwohl, sofern",
    hypothesis="wenn, falls, sofern, ob",
    guessed=(
        "wahrscheinlich, vielleicht, vermutlich, wohl, ich glaube, ich denke, anscheinend, scheinbar,"
        " möglicherweise, müsste, dürfte, hoffentlich, angeblich"
    ),
    negation="nicht, kein, keine, keinen, nie, niemals, nichts",
    harmless=(
        "damit ist, damit sind, keine fehler, ohne fehler, keine probleme, keine beanstandungen, nichts"
        " mehr zu tun, keine einwände, keine fragen"
    ),
    unfinished=(
        "noch offen, noch nicht, unfertig, unvollständig, fehlt, fehlen, steht noch aus, offen geblieben"
    ),
    reopened=(
        "wieder offen, doch nicht, wieder öffnen, muss nochmal, noch einmal machen, von vorn, zurück auf"
        " anfang, wieder kaputt, doch noch nicht, öffne wieder"
    ),
    skipped=(
        "überspringe, übersprungen, entfällt, unnötig, nicht nötig, nicht mehr nötig, lasse weg, lassen wir"
        " weg, weggelassen, hinfällig, erübrigt sich, überflüssig, brauchen wir nicht"
    ),
    says=(
        "sagt, sagte, schreibt, schrieb, meint, meinte, behauptet, behauptete, meldet, laut, zufolge,"
        " berichtet, steht im log, druckt, gibt aus, zeigt an, erzählt, erzählte, glaubt, denkt"
    ),
    others="er, sie, es, der, die, das, kollege, kollegin, chef, jemand, man, laut",
    self_words="ich, wir",
    asks=(
        "soll, sollen, ist, sind, hat, haben, kann, können, wird, was, welche, welcher, welches, wer, wo,"
        " wann, warum, wie, wieviel, darf, muss, habt, hast"
    ),
    repairs="behoben, repariert, gelöst, beseitigt, korrigiert, gefixt",
    steps=("schritt, schritte, schritten, punkt, punkte, aufgabe, aufgaben, teil, nummer, nr, etappe, step"),
    ordinals="erste, zweite, dritte, vierte, fünfte, sechste, siebte, achte, neunte, zehnte",
    last="letzte, letzter, letztes",
    joins="und, dann, sowie, und dann",
    contrasts="aber, jedoch, allerdings, doch, sondern, während",
    into=(
        "für, mit, von, nach, zu, zum, zur, bei, auf, an, am, im, in, aus, um, per, über, unter, als, bis, ab"
    ),
    numbers="eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf",
    of="von, von den, der, aus, /",
    past_endings="iert",
    past_beginnings="ge be ver er ent zer über unter",
    not_past=(
        "gericht gesicht gewicht geschäft gebiet gesamt genannt gerät bericht bereit besten besser erst"
        " erste unten über gegen gestern gesten verfahren vertrag bescheid bett unterschied"
    ),
    shortest_past=6,
    past_words=(
        "geschrieben:schreiben gekauft:kaufen gebucht:buchen gesendet:senden gesandt:senden"
        " geschickt:schicken verschickt:schicken versendet:senden versandt:senden gefunden:finden"
        " genommen:nehmen gebracht:bringen gegeben:geben bestellt:bestellen bezahlt:bezahlen"
        " bestätigt:bestätigen überprüft:prüfen geprüft:prüfen überwiesen:überweisen"
        " unterschrieben:unterschreiben unterzeichnet:unterzeichnen ergänzt:ergänzen erstellt:erstellen"
        " erweitert:erweitern verlegt:verlegen verteilt:verteilen vorbereitet:vorbereiten"
        " besprochen:besprechen beantragt:beantragen benachrichtigt:benachrichtigen"
        " veröffentlicht:veröffentlichen entfernt:entfernen ersetzt:ersetzen erhalten:erhalten"
        " bekommen:bekommen vereinbart:vereinbaren verglichen:vergleichen gelesen:lesen gelegt:legen"
        " gestrichen:streichen gewonnen:gewinnen getroffen:treffen gesprochen:sprechen übergeben:übergeben"
        " übersetzt:übersetzen entworfen:entwerfen verfasst:verfassen ausgecheckt:auschecken"
        " hochgeladen:hochladen heruntergeladen:herunterladen eingereicht:einreichen abgeschickt:abschicken"
        " abgegeben:abgeben angerufen:anrufen eingeladen:einladen aufgebaut:aufbauen eingerichtet:einrichten"
        " ausgerollt:ausrollen ausgefüllt:ausfüllen zusammengestellt:zusammenstellen angelegt:anlegen"
        " umgestellt:umstellen ausgetauscht:austauschen eingebaut:einbauen aufgeräumt:aufräumen"
        " gemessen:messen gefüllt:füllen begonnen:beginnen verschoben:verschieben verpackt:packen"
        " gepackt:packen gereserviert:reservieren reserviert:reservieren installiert:installieren"
    ),
    endings="ungen ung ieren iert ierte ten test tet te en er es em et st t n e s",
    verb_last=True,
)
