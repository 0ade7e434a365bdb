"""Italian."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="it",
    common=(
        "il lo la i gli le l' un uno una di del dello della dei degli delle e ed o è sono era erano sta"
        " stanno sto stiamo ha ho hai abbiamo hanno io noi lui lei loro si mi ci mio mia suo sua nostro con"
        " per da dal dalla in nel nella a al alla alle ai che chi quando dove come perché non sì più anche"
        " già ancora ora adesso oggi ieri domani molto bene tutto tutti tutta tutte senza su sul sulla fino"
        " tra fra questo questa stato stata stati lunedì martedì mercoledì giovedì venerdì sabato domenica"
        " essere tre due"
    ),
    done=(
        "ha avuto luogo, si è svolto, si è svolta, fatto, fatta, fatti, fatte, finito, finita, finiti,"
        " finite, terminato, terminata, terminati, terminate, completato, completata, completati,"
        " completate, completo, completa, concluso, conclusa, pronto, pronta, pronti, pronte, a posto,"
        " sistemato, sistemata, risolto, risolta, chiuso, chiusa, riuscito, riuscita, ✓, ✔, ✅, ☑, [x], 100"
        " %, 100%"
    ),
    state=(
        "funziona, è andato bene, è andata bene, abbiamo già, è online, online, è aperto, è aperta, è"
        " attivo, è attiva, è su, è verde, è arrivato, è arrivata, sono arrivati, sono arrivate, c'è, ci"
        " sono, senza errori, nessun errore, senza problemi, coincidono, coincide, corretto, corretta, ok, è"
        " chiaro, vince, pubblicato"
    ),
    all=(
        "tutto, tutti i passi, tutte le attività, tutti i passaggi, l'intero piano, il resto, tutto il"
        " resto, tutti i punti"
    ),
    begun=(
        "inizio, iniziato, iniziando, comincio, cominciato, in corso, sto, stiamo, lavorando su, al lavoro,"
        " ora, adesso, passo a, passiamo a, continuo, proseguo, aspetto, in attesa, in lavorazione, mi"
        " occupo"
    ),
    going_on="viene, vengono, in fase di",
    failed=(
        "fallito, fallita, falliti, fallisce, errore, errori, rifiutato, rifiutata, negato, respinto,"
        " respinta, bloccato, bloccata, impossibile, rotto, rotta, non funziona, non ha funzionato, non"
        " riesco, non sono riuscito, annullato, esaurito, interrotto"
    ),
    partly=(
        "due terzi, un terzo, tre quarti, a metà, metà, in parte, parzialmente, quasi, la maggior parte,"
        " finora, per ora, tranne, eccetto, manca ancora, mancano"
    ),
    also="anche, altri, altre, resto, ultimi, ultime, restanti",
    still="ancora, tuttora",
    planned=(
        "devo, dobbiamo, bisogna, voglio, vorrei, farò, sarà, saranno, andrà, da fare, intendo, occorre, ho"
        " intenzione"
    ),
    deferred=(
        "domani, più tardi, dopo, la prossima settimana, presto, stasera, nel pomeriggio, poi, dopodomani"
    ),
    condition=(
        "se, quando, appena, finché, prima di, dopo che, una volta, affinché, perché, sebbene, non appena"
    ),
    hypothesis="se",
    guessed=(
        "probabilmente, forse, credo, penso, suppongo, sembra, pare, a quanto pare, dovrebbe,"
        " presumibilmente, magari"
    ),
    negation="non, mai, niente, nulla, nessun, nessuno, nessuna, né",
    harmless=(
        "senza errori, nessun errore, senza problemi, nessun problema, non manca nulla, non manca niente"
    ),
    unfinished=(
        "non ancora, ancora aperto, ancora aperta, incompleto, incompleta, manca, da finire, ancora da"
    ),
    reopened=(
        "riapro, riaprire, riaperto, riaperta, rifare, da rifare, alla fine no, di nuovo aperto, ripetere"
    ),
    skipped=(
        "salto, saltato, saltata, saltiamo, non serve, non serve più, inutile, non necessario, non"
        " necessaria, tralascio, tralasciato, omesso, superfluo, non si applica"
    ),
    says=(
        "dice, ha detto, scrive, ha scritto che, sostiene, afferma, secondo, riporta, stampa, mostra,"
        " racconta, pensa, crede, assicura, annuncia, indica, riferisce"
    ),
    others="lui, lei, loro, il, la, i, le, gli, lo, collega, capo, qualcuno, secondo, un, una",
    self_words="io, noi, ho, abbiamo, sto, stiamo",
    asks=(
        "devo, dobbiamo, che, cosa, quale, quali, chi, dove, quando, come, quanto, quanti, posso, possiamo,"
        " è, c'è"
    ),
    repairs="corretto, corretta, riparato, riparata, risolto, risolta, sistemato",
    steps=("passo, passi, passaggio, fase, fasi, punto, punti, attività, compito, numero, parte, step"),
    ordinals="primo, secondo, terzo, quarto, quinto, sesto, settimo, ottavo, nono, decimo",
    last="ultimo, ultima",
    joins="e, ed, poi",
    contrasts="ma, però, tuttavia, mentre",
    into=(
        "per, con, di, del, dello, della, dei, degli, delle, a, al, alla, alle, ai, da, dal, in, nel,"
        " nella, su, sul, fino, tra"
    ),
    numbers="uno, due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici, dodici",
    of="su, di, dei, degli, delle, /",
    past_endings="ato ata ati ate uto uta uti ute ito ita iti ite",
    past_words=(
        "rimosso:rimuovere risposto:rispondere perso:perdere acceso:accendere spento:spegnere"
        " dipinto:dipingere cotto:cuocere prodotto:produrre ridotto:ridurre esteso:estendere"
        " steso:stendere appeso:appendere promesso:promettere trasmesso:trasmettere chiuso:chiudere"
        " concluso:concludere scritto:scrivere iscritto:iscrivere descritto:descrivere messo:mettere"
        " preso:prendere aperto:aprire coperto:coprire scoperto:scoprire scelto:scegliere"
        " chiesto:chiedere richiesto:richiedere letto:leggere riletto:rileggere visto:vedere"
        " rivisto:rivedere speso:spendere reso:rendere corretto:correggere deciso:decidere"
        " diviso:dividere discusso:discutere raccolto:raccogliere accolto:accogliere tolto:togliere"
        " risolto:risolvere assunto:assumere raggiunto:raggiungere aggiunto:aggiungere eletto:eleggere"
        " disposto:disporre proposto:proporre composto:comporre offerto:offrire fatto:fare rifatto:rifare"
        " detto:dire rotto:rompere tradotto:tradurre protetto:proteggere venduto:vendere"
        " stampato:stampare spedito:spedire"
    ),
    not_past=(
        "salute subito partita visita uscita entrata giornata serata settimana mercato dato dati stato"
        " privato certificato risultato risultati"
    ),
    shortest_past=6,
    progress_endings="ando endo",
    endings=(
        "aggi aggio azioni azione izioni izione ioni ione amenti amento imenti imento atori atore ato ata"
        " ati ate uto uta uti ute ito ita iti ite ando endo are ere ire iamo o a i e"
    ),
)
