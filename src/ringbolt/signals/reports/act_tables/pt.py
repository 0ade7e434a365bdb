"""Portuguese."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="pt",
    common=(
        "o a os as um uma uns umas de do da dos das e ou é são era foi foram está estão estou estamos tem"
        " tenho temos eu nós ele ela eles se me nos meu minha seu sua nosso com para por em no na nas ao à"
        " aos às que quem quando onde como porque não sim mais também já ainda agora hoje ontem amanhã muito"
        " bem tudo todos todas sem sobre até desde entre isto isso este esta segunda terça quarta quinta"
        " sexta sábado domingo sido ser horas"
    ),
    done=(
        "aconteceu, realizou-se, feito, feita, feitos, feitas, pronto, pronta, prontos, prontas, terminado,"
        " terminada, terminados, terminadas, acabado, acabada, concluído, concluída, concluídos,"
        " concluídas, completo, completa, finalizado, finalizada, resolvido, resolvida, fechado, fechada,"
        " terminei, acabei, tratado, ✓, ✔, ✅, ☑, [x], 100 %, 100%"
    ),
    state=(
        "funciona, funcionou, deu certo, correu bem, já temos, já tenho, está no ar, no ar, está online,"
        " está aberto, está aberta, já está, já estão, chegou, chegaram, está verde, sem erros, sem erro,"
        " sem problemas, bate certo, batem, coincidem, tudo ok, ok, está claro, correto, correta, em"
        " funcionamento"
    ),
    all=(
        "tudo, todos os passos, todas as etapas, todas as tarefas, o plano inteiro, o resto, todo o resto,"
        " todos os pontos"
    ),
    begun=(
        "começo, começando, comecei, a começar, em curso, em andamento, trabalhando em, a trabalhar, agora,"
        " passo a, passo para, continuo, continuando, estou, estamos, à espera, esperando, iniciando, a"
        " iniciar, iniciei"
    ),
    going_on="sendo, a ser",
    failed=(
        "falhou, falharam, falha, erro, erros, rejeitado, rejeitada, recusado, recusada, negado, bloqueado,"
        " impossível, partido, quebrou, não funciona, não funcionou, não consegui, não consigo, não deu,"
        " cancelado, esgotado, abortado"
    ),
    partly=(
        "dois terços, um terço, a meio, metade, pela metade, em parte, parcialmente, quase, a maioria, até"
        " agora, por enquanto, exceto, menos, falta ainda, faltam"
    ),
    also="também, outros, outras, resto, últimos, últimas, restantes",
    still="ainda, continua, continuam",
    planned=(
        "vou, vamos, vai, tenho de, tenho que, preciso, é preciso, devo, quero, farei, será, serão, por"
        " fazer, resta, pretendo, falta fazer"
    ),
    deferred="amanhã, mais tarde, depois, na próxima semana, em breve, esta noite, logo, à tarde",
    condition=(
        "se, quando, assim que, até que, antes de, depois de, uma vez, para que, porque, embora, logo que"
    ),
    hypothesis="se",
    guessed=(
        "provavelmente, talvez, acho, creio, suponho, parece, aparentemente, deve estar, supostamente, se"
        " calhar, possivelmente"
    ),
    negation="não, nunca, jamais, nada, nenhum, nenhuma, nem",
    harmless=(
        "sem erros, sem erro, sem problemas, nenhum erro, nenhum problema, não falta nada, nada em falta"
    ),
    unfinished=("ainda não, pendente, por fazer, incompleto, incompleta, falta, continua aberto, em falta"),
    reopened=(
        "reabro, reabrir, reaberto, reaberta, refazer, afinal não, de novo aberto, voltar a fazer, repetir"
    ),
    skipped=(
        "pulei, pulando, pulado, saltei, saltado, ignorado, desnecessário, desnecessária, não é preciso,"
        " não é necessário, já não é preciso, dispensado, descartado, não se aplica"
    ),
    says=(
        "diz, disse, escreve, escreveu, afirma, afirmou, segundo, informa, mostra, imprime, conta, pensa,"
        " acha que, garante, anuncia, indica, comentou"
    ),
    others="ele, ela, eles, o, a, os, as, colega, chefe, alguém, segundo, um, uma",
    self_words="eu, nós, estou, estamos, tenho",
    asks=(
        "devo, devemos, o que, qual, quais, quem, onde, quando, como, quanto, quantos, posso, podemos,"
        " está, é, há"
    ),
    repairs="corrigido, corrigida, arrumado, consertado, resolvido, resolvida, reparado",
    steps=("passo, passos, etapa, etapas, tarefa, tarefas, ponto, pontos, número, item, itens, parte"),
    ordinals="primeiro, segundo, terceiro, quarto, quinto, sexto, sétimo, oitavo, nono, décimo",
    last="último, última",
    joins="e, depois, então",
    contrasts="mas, porém, contudo, no entanto, embora, enquanto",
    into=("para, com, de, do, da, dos, das, a, ao, à, às, em, no, na, por, até, desde, sobre, entre"),
    numbers="um, dois, três, quatro, cinco, seis, sete, oito, nove, dez, onze, doze",
    of="de, dos, das, /",
    past_endings="ado ada ados adas ido ida idos idas ou aram eram iram ei ámos",
    past_words=(
        "escrito:escrever descrito:descrever inscrito:inscrever aberto:abrir coberto:cobrir"
        " descoberto:descobrir posto:pôr proposto:propor composto:compor exposto:expor visto:ver"
        " previsto:prever revisto:rever feito:fazer refeito:refazer dito:dizer pago:pagar"
        " entregue:entregar entregues:entregar aceite:aceitar aceito:aceitar impresso:imprimir"
        " eleito:eleger ganho:ganhar gasto:gastar fiz:fazer fez:fazer pus:pôr pôs:pôr veio:vir"
        " trouxe:trazer dei:dar demos:dar escrevi:escrever abri:abrir pedi:pedir recebi:receber li:ler"
        " revi:rever comprei:comprar enviei:enviar reservei:reservar"
    ),
    not_past=(
        "estado resultado pedido resultados comida saída entrada chegada mercado certificado vamos estamos"
        " temos eram lado"
    ),
    progress_endings="ando endo indo",
    endings=(
        "agens agem ações ação izações ização mentos mento adores ador ados adas ado ada idos idas ido ida"
        " aram eram iram ando endo indo ámos amos emos ou ei ar er ir os as es o a e s"
    ),
)
