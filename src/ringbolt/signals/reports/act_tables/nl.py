"""Dutch."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="nl",
    common=(
        "de het een en of is zijn was waren wordt worden werd werden heb heeft hebben had ik wij we hij zij"
        " ze mijn ons onze haar hun met van voor op aan in te bij naar uit over onder om als ook nog al niet"
        " geen alleen heel zo hoe wat wie waar wanneer waarom dat die dit deze maar nu net vandaag gisteren"
        " morgen uur men hier daar dan alles alle tot sinds door tegen zonder eindelijk er maandag dinsdag"
        " woensdag donderdag vrijdag zaterdag zondag per doe"
    ),
    done=(
        "vond plaats, heeft plaatsgevonden, klaar, gedaan, af, afgerond, voltooid, gereed, voltooide,"
        " geregeld, afgehandeld, compleet, gelukt, in orde, afgevinkt, voor elkaar, rond, beëindigd, ✓, ✔,"
        " ✅, ☑, [x], 100 %, 100%"
    ),
    state=(
        "werkt, werkt nu, staat, staan, we hebben, hangt, hangen, staat online, staat live, is live, staat"
        " open, staat klaar, is binnen, zijn binnen, is verstuurd, is er, zijn er, is groen, zijn groen,"
        " groen, klopt, kloppen, zonder fouten, geen fouten, foutloos, zonder problemen, ok, is duidelijk,"
        " is de deur uit, zijn de deur uit, draait weer, is weg, zijn weg"
    ),
    all="alles, alle stappen, alle taken, alle punten, het hele plan, de rest, al het andere",
    begun=(
        "begin, begonnen, begin met, gestart met, start met, ben bezig, bezig met, bezig, aan het, werk"
        " aan, loopt nog, ga verder, verder met, nu, wacht op, in behandeling, onderweg, wordt nu"
    ),
    going_on="wordt nu, worden nu, wordt nog, worden nog",
    failed=(
        "mislukt, mislukte, faalt, faalde, fout, fouten, geweigerd, afgewezen, geblokkeerd, kapot, lukt"
        " niet, lukte niet, werkt niet, werkte niet, kon niet, onmogelijk, vastgelopen, afgebroken,"
        " uitverkocht, rood"
    ),
    partly=(
        "twee derde, een derde, driekwart, voor de helft, half, helft, de helft, deels, gedeeltelijk,"
        " bijna, grotendeels, tot nu toe, behalve, op na, ontbreekt nog, ontbreken nog"
    ),
    also="ook, andere, overige, rest, laatste",
    still="nog, steeds",
    planned=(
        "zal, zullen, ga, gaan, wil, willen, moet, moeten, zou, van plan, nog te doen, staat gepland, volgt"
        " nog"
    ),
    deferred=("morgen, later, volgende week, straks, binnenkort, vanavond, vanmiddag, daarna, overmorgen"),
    condition=("als, wanneer, zodra, indien, voordat, totdat, nadat, of, zodat, omdat, hoewel, tenzij, mits"),
    hypothesis="als, indien, mits, tenzij",
    guessed=(
        "waarschijnlijk, misschien, vermoedelijk, denk ik, ik denk, ik geloof, blijkbaar, schijnbaar,"
        " mogelijk, hopelijk, naar verluidt, zou moeten"
    ),
    negation="niet, geen, nooit, niets, niks",
    harmless=(
        "geen fouten, zonder fouten, geen problemen, zonder problemen, niets meer te doen, geen bezwaren"
    ),
    unfinished="nog niet, nog open, onaf, onvolledig, ontbreekt, ontbreken, staat nog open",
    reopened=(
        "heropen, heropend, heropenen, toch niet, toch nog niet, moet opnieuw, opnieuw doen, weer open,"
        " overdoen"
    ),
    skipped=(
        "sla over, overgeslagen, overslaan, onnodig, niet nodig, niet meer nodig, vervalt, laten we weg,"
        " weggelaten, overbodig, niet van toepassing"
    ),
    says=(
        "zegt, zei, schrijft, schreef, meldt, meldde, beweert, beweerde, volgens, vertelt, vertelde, denkt,"
        " dacht, toont, print, geeft aan"
    ),
    others="hij, zij, ze, de, het, een, collega, baas, iemand, volgens",
    self_words="ik, wij, we",
    asks=(
        "moet, moeten, is, zijn, heeft, kan, kunnen, wat, welke, wie, waar, wanneer, waarom, hoe, hoeveel,"
        " mag, zal, zullen, heb"
    ),
    repairs="opgelost, gerepareerd, hersteld, verholpen, gefixt",
    steps="stap, stappen, taak, taken, punt, punten, nummer, deel, onderdeel",
    ordinals="eerste, tweede, derde, vierde, vijfde, zesde, zevende, achtste, negende, tiende",
    last="laatste",
    joins="en, dan, daarna",
    contrasts="maar, echter, toch, terwijl",
    into="voor, met, van, naar, te, bij, op, aan, in, uit, om, per, over, tot, vanaf",
    numbers="een, twee, drie, vier, vijf, zes, zeven, acht, negen, tien, elf, twaalf",
    of="van, van de, /",
    past_beginnings="ge be ver er ont her",
    not_past=(
        "geen gebied gerecht gezicht gewicht bericht beetje verslag bestand bestanden verband begin beeld"
        " geld"
    ),
    shortest_past=6,
    past_words=(
        "geschreven:schrijven gekocht:kopen verkocht:verkopen gevonden:vinden genomen:nemen"
        " gebracht:brengen gegeven:geven besteld:bestellen betaald:betalen bevestigd:bevestigen"
        " verstuurd:sturen verzonden:zenden ondertekend:ondertekenen gehuurd:huren geboekt:boeken"
        " gereserveerd:reserveren opgezegd:opzeggen ingepakt:inpakken ingeleverd:inleveren"
        " verwijderd:verwijderen gecontroleerd:controleren geëxporteerd:exporteren geïmporteerd:importeren"
        " geïnstalleerd:installeren uitgenodigd:uitnodigen aangevraagd:aanvragen ingediend:indienen"
        " opgestuurd:opsturen afgesproken:afspreken ontvangen:ontvangen verhuisd:verhuizen"
        " vergeleken:vergelijken gelezen:lezen getekend:tekenen geverfd:verven voorbereid:voorbereiden"
        " vertaald:vertalen bijgewerkt:bijwerken uitgevoerd:uitvoeren opgesteld:opstellen gekozen:kiezen"
        " gesloten:sluiten overgedragen:overdragen"
    ),
    endings="ingen ing eren eerd eert eer den ten de te en er s t d e n",
    verb_last=True,
)
