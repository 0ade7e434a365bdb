"""Spanish."""

from __future__ import annotations

from . import ActTable

TABLE = ActTable(
    language="es",
    common=(
        "el la los las un una unos unas de del y o es son era fue fueron está están estoy estamos ha he han"
        " hemos había yo nosotros él ella ellos se me nos lo le les mi mis su sus nuestro con para por en a"
        " al que quien cuando donde cómo porque no sí más también ya todavía aún ahora hoy ayer mañana muy"
        " bien todo todos toda todas sin sobre hasta desde entre lunes martes miércoles jueves viernes"
        " sábado domingo tres dos uno este esta esto eso hay sido ser"
    ),
    done=(
        "tuvo lugar, ha tenido lugar, se celebró, hecho, hecha, hechos, hechas, listo, lista, listos,"
        " listas, terminado, terminada, terminados, terminadas, acabado, acabada, completo, completa,"
        " completado, completada, completados, completadas, finalizado, finalizada, concluido, concluida,"
        " resuelto, resuelta, cerrado, cerrada, en su sitio, conseguido, logrado, terminé, acabé, ✓, ✔, ✅,"
        " ☑, [x], 100 %, 100%"
    ),
    state=(
        "funciona, funcionan, salió bien, ya tenemos, ya tengo, tenemos, está en línea, en línea, está"
        " abierto, está abierta, está arriba, está en verde, en verde, está publicado, ha llegado, han"
        " llegado, llegó, llegaron, ya está, ya están, coincide, coinciden, sin errores, sin error, sin"
        " problemas, correcto, correcta, correctas, ok, está claro, en marcha"
    ),
    all=(
        "todo, todos los pasos, todas las tareas, el plan entero, lo demás, el resto, todo lo demás, todos"
        " los puntos"
    ),
    begun=(
        "empiezo, empezando, empecé, he empezado, comienzo, comenzando, en curso, en proceso, trabajando"
        " en, trabajando, ahora, paso a, sigo con, siguiendo, estoy, estamos, continuando, esperando, a la"
        " espera, me pongo con"
    ),
    going_on="se está, se están, siendo",
    failed=(
        "falló, fallaron, ha fallado, falla, fallido, fallida, error, errores, rechazado, rechazada,"
        " denegado, bloqueado, imposible, roto, rota, no funciona, no funcionó, no se pudo, no pude, no"
        " puedo, cancelado, agotado, abortado"
    ),
    partly=(
        "dos tercios, un tercio, tres cuartos, a medias, mitad, la mitad, en parte, parcialmente, casi, la"
        " mayoría, hasta ahora, de momento, excepto, salvo, menos, falta todavía, faltan"
    ),
    also="también, otros, otras, resto, últimos, últimas",
    still="todavía, aún, sigue, siguen",
    planned=(
        "voy a, vamos a, va a, tengo que, hay que, debo, debemos, quiero, pienso, haré, será, serán, queda"
        " por, por hacer, pendiente de, tendré, necesito"
    ),
    deferred=(
        "mañana, más tarde, luego, la semana que viene, pronto, esta noche, esta tarde, después, pasado"
        " mañana, el lunes"
    ),
    condition=(
        "si, cuando, en cuanto, hasta que, antes de, después de que, una vez, para que, porque, aunque"
    ),
    hypothesis="si",
    guessed=(
        "probablemente, quizás, quizá, tal vez, creo, supongo, parece, al parecer, debería estar,"
        " seguramente, supuestamente, ojalá"
    ),
    negation="no, nunca, jamás, nada, ningún, ninguna, ninguno, tampoco",
    harmless=(
        "sin errores, sin error, sin problemas, ningún error, ningún problema, no hay errores, nada"
        " pendiente, no falta nada, no queda nada"
    ),
    unfinished=(
        "todavía no, aún no, pendiente, sin hacer, incompleto, incompleta, falta, sigue abierto, sigue"
        " pendiente"
    ),
    reopened=(
        "reabro, reabrir, reabierto, reabierta, hay que rehacer, rehacer, al final no, de nuevo abierto,"
        " vuelve a estar abierto, repetir"
    ),
    skipped=(
        "omito, omitido, omitida, saltamos, me salto, salto, saltado, innecesario, innecesaria, no hace"
        " falta, ya no hace falta, no es necesario, descartado, no aplica, sobra"
    ),
    says=(
        "dice, dijo, escribe, escribió, afirma, afirmó, según, informa, muestra, imprime, cuenta, piensa,"
        " cree que, asegura, anuncia, comenta, indica"
    ),
    others="él, ella, ellos, el, la, los, las, colega, jefe, alguien, según, un, una",
    self_words="yo, nosotros, he, hemos, estoy, estamos",
    asks=(
        "debo, debemos, qué, cuál, cuáles, quién, dónde, cuándo, cómo, cuánto, cuántos, puedo, podemos,"
        " está, es, hay, ¿"
    ),
    repairs="corregido, corregida, arreglado, arreglada, resuelto, resuelta, reparado, reparada",
    steps="paso, pasos, tarea, tareas, punto, puntos, número, n.º, etapa, parte",
    ordinals="primer, segundo, tercer, cuarto, quinto, sexto, séptimo, octavo, noveno, décimo",
    last="último, última",
    joins="y, luego, después",
    contrasts="pero, sin embargo, aunque, mientras",
    into="para, con, de, del, a, al, en, por, hasta, desde, sobre, entre, el",
    numbers="uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce",
    of="de, de los, de las, /",
    past_endings="ado ada ados adas ido ida idos idas ó aron ieron amos é",
    past_words=(
        "escrito:escribir descrito:describir inscrito:inscribir transcrito:transcribir abierto:abrir"
        " puesto:poner propuesto:proponer compuesto:componer expuesto:exponer repuesto:reponer visto:ver"
        " previsto:prever dicho:decir hecho:hacer rehecho:rehacer devuelto:devolver resuelto:resolver"
        " vuelto:volver envuelto:envolver impreso:imprimir roto:romper cubierto:cubrir"
        " descubierto:descubrir hice:hacer hizo:hacer hicimos:hacer puse:poner puso:poner pusimos:poner"
        " vino:venir fui:ir di:dar dimos:dar traje:traer trajo:traer dije:decir escribí:escribir"
        " abrí:abrir pedí:pedir recibí:recibir subí:subir compré:comprar reservé:reservar envié:enviar"
        " envió:enviar corregido:corregir elegido:elegir revisé:revisar"
    ),
    not_past=(
        "estado resultado pedido partido lado café vamos estamos hemos tenemos resultados comida salida"
        " entrada llegada mercado certificado"
    ),
    progress_endings="ando iendo yendo",
    endings=(
        "ajes aje aciones ación iones ión amientos amiento imientos imiento adores ador ados adas ado ada"
        " idos idas ido ida aron ieron ando iendo amos emos imos ar er ir ó é í os as es o a e s"
    ),
)
