"""French."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="fr",
    common=(
        "le la les l' un une des du de d' et ou est sont était étaient a ai as avons avez ont je j'ai nous"
        " il elle ils elles on ce c'est cette ces mon ma mes notre nos votre son sa ses leur avec pour par"
        " sur dans en à au aux que qui quoi où quand comment pourquoi ne pas plus aussi déjà encore"
        " maintenant aujourd'hui hier demain très bien été être fait faire tout tous toute toutes chez sans"
        " sous vers depuis lundi mardi mercredi jeudi vendredi samedi dimanche heures"
    ),
    done=(
        "a eu lieu, ont eu lieu, fait, faits, faite, faites, c'est fait, terminé, terminée, terminés,"
        " terminées, fini, finie, finis, finies, achevé, achevée, accompli, prêt, prête, prêts, prêtes,"
        " complet, complète, réglé, réglée, bouclé, bouclée, en place, réussi, réussie, au point, ✓, ✔, ✅,"
        " ☑, [x], 100 %, 100%"
    ),
    state=(
        "ça marche, fonctionne, fonctionnent, marche, marchent, nous avons, on a, est en ligne, sont en"
        " ligne, en ligne, est ouvert, est ouverte, est là, sont là, est parti, est partie, sont parties,"
        " sont partis, est arrivé, est arrivée, sont arrivés, est passé, est vert, au vert, est bon, ok, est"
        " clair, correspond, correspondent, sans erreur, sans erreurs, aucune erreur, sans problème, est"
        " publié, est debout"
    ),
    all=(
        "tout, toutes les étapes, tous les points, le plan entier, le reste, tout le reste, toutes les"
        " tâches, l'ensemble"
    ),
    begun=(
        "commence, je commence, commencé, en cours, en train de, en train d', travaille sur, je passe à,"
        " passons à, maintenant, je continue, continue, démarre, j'attaque, attaque, j'attends, en attente,"
        " attend, au travail, suis sur, je m'occupe, m'occupe"
    ),
    going_on="en cours de, en train d'être",
    failed=(
        "échoué, échouée, échouent, échoue, échec, erreur, erreurs, refusé, refusée, rejeté, rejetée,"
        " bloqué, bloquée, impossible, planté, cassé, ne marche pas, ne fonctionne pas, n'a pas marché, pas"
        " pu, abandonné, complet partout, annulé"
    ),
    partly=(
        "deux tiers, un tiers, aux deux tiers, trois quarts, à moitié, moitié, en partie, partiellement,"
        " presque, la plupart, jusqu'ici, pour l'instant, sauf, excepté, il reste, reste encore, manque"
        " encore"
    ),
    also="aussi, également, autres, reste, derniers, dernières",
    still="encore, toujours",
    planned=(
        "vais, va, allons, vont, dois, doit, devons, faut, il faut, faudra, ferai, sera, seront, prévu,"
        " prévue, veux, voudrais, je compte, on compte, reste à, à faire"
    ),
    deferred=(
        "demain, plus tard, la semaine prochaine, bientôt, lundi prochain, ce soir, cet après-midi,"
        " après-demain, ensuite"
    ),
    condition=(
        "si, quand, dès que, lorsque, une fois, avant de, avant que, après que, jusqu'à, afin de, parce"
        " que, car"
    ),
    hypothesis="si",
    guessed=(
        "probablement, peut-être, sans doute, je pense, je crois, semble, apparemment, devrait être, il"
        " paraît, paraît-il, espérons"
    ),
    negation="ne, n', pas, jamais, rien, aucun, aucune, n'est, n'ai, n'a, n'ont, n'avons, n'était",
    harmless=(
        "sans erreur, sans erreurs, aucune erreur, sans problème, aucun problème, aucune remarque, plus"
        " rien à faire, pas de problème, pas d'erreur"
    ),
    unfinished="pas encore, encore ouvert, inachevé, inachevée, incomplet, manque, reste à faire",
    reopened=(
        "rouvre, rouvrir, rouvert, rouverte, à refaire, refaire, finalement pas, en fait pas, à nouveau"
        " ouvert, revenir sur, reprendre à zéro"
    ),
    skipped=(
        "saute, sauté, sautons, inutile, pas nécessaire, plus nécessaire, on laisse tomber, omis, pas"
        " besoin, plus besoin, superflu, sans objet, j'ignore, ignorée"
    ),
    says=(
        "dit, disait, écrit que, a écrit, écrit, prétend, affirme, affiche, selon, d'après, raconte, pense,"
        " annonce, indique, signale, assure, rapporte"
    ),
    others="il, elle, ils, elles, on, le, la, les, collègue, chef, quelqu'un, selon",
    self_words="je, j'ai, nous, j'",
    asks=(
        "est-ce, dois, doit, devons, puis, peut, pouvons, que, quel, quelle, quels, quelles, qui, où,"
        " quand, comment, pourquoi, combien, faut, as, avez"
    ),
    repairs="corrigé, corrigée, réparé, réparée, résolu, résolue, réglé",
    steps="étape, étapes, tâche, tâches, point, points, numéro, n°, l'étape, partie",
    ordinals=(
        "première, deuxième, troisième, quatrième, cinquième, sixième, septième, huitième, neuvième, dixième"
    ),
    last="dernière, dernier",
    joins="et, puis, ensuite",
    contrasts="mais, cependant, pourtant, toutefois, tandis",
    into="pour, avec, de, à, au, aux, du, des, dans, en, sur, chez, par, vers, depuis, le",
    numbers="un, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze",
    of="sur, sur les, des, de, /",
    past_endings="é ée és ées",
    weak_past_endings="i ie is ies u ue us ues",
    past_words=(
        "écrit:écrire décrit:décrire inscrit:inscrire fait:faire refait:refaire dit:dire mis:mettre"
        " soumis:soumettre transmis:transmettre remis:remettre émis:émettre pris:prendre repris:reprendre"
        " appris:apprendre compris:comprendre acquis:acquérir ouvert:ouvrir couvert:couvrir"
        " découvert:découvrir offert:offrir reçu:recevoir conçu:concevoir choisi:choisir fourni:fournir"
        " lu:lire relu:relire élu:élire vu:voir revu:revoir prévu:prévoir vendu:vendre rendu:rendre"
        " obtenu:obtenir tenu:tenir conclu:conclure résolu:résoudre construit:construire conduit:conduire"
        " détruit:détruire traduit:traduire produit:produire réduit:réduire introduit:introduire"
        " cuit:cuire peint:peindre éteint:éteindre atteint:atteindre joint:joindre suivi:suivre"
        " rédigé:rédiger envoyé:envoyer payé:payer"
    ),
    not_past=(
        "qualité été côté clé café société santé unité activité année journée soirée idée musée marché"
        " sécurité"
    ),
    endings=(
        "ages age issements issement ements ement ations ation ions ion euses eurs eur ants ant issons"
        " issez ées ée és er é ez ir ie is it i re ue us u es e s"
    ),
)
