"""A thesaurus of work: the actions of many trades with their results, and the things they are done to.

A line is a concept; words on one line can stand for each other in a report: "the merge request is up" is
"Open the MR", "bought" is "Buy". The columns are English, German, French, Spanish, Portuguese, Italian, Dutch,
Chinese and Japanese. A word may stand on several lines. Forms are left to `signals.word_roots`.
"""

from __future__ import annotations

from functools import lru_cache

from .word_roots import COLUMNS, plain, root

# What is done, and the words for its result. Two actions without a common line are different actions.
_ACTIONS = """
obtain: get obtain acquire receive fetch retrieve collect gather pick-up arrive | bekommen erhalten holen besorgen ankommen | obtenir recevoir récupérer chercher | obtener recibir conseguir recoger | obter receber conseguir recolher | ottenere ricevere prendere raccogliere | krijgen ontvangen halen ophalen | 获得 收到 取得 领取 | 取得 入手 受け取
buy: buy purchase order acquire procure get pay shop bought | kaufen bestellen besorgen anschaffen erwerben | acheter commander | comprar adquirir pedir encargar | comprar adquirir encomendar | comprare acquistare ordinare | kopen bestellen aanschaffen | 买 购买 采购 订购 订 | 購入 買 注文 発注
book: book reserve schedule hire rent secure arrange order confirm | buchen reservieren mieten bestellen | réserver louer retenir | reservar alquilar contratar | reservar alugar marcar contratar | prenotare riservare affittare noleggiare | boeken reserveren huren | 订 预订 预定 预约 租 | 予約 手配 借り
pay: pay settle transfer wire remit cover reimburse | bezahlen zahlen überweisen begleichen | payer régler virer | pagar abonar transferir | pagar transferir liquidar | pagare saldare versare | betalen overmaken | 付款 支付 缴 | 支払 振込
hire: hire engage contract recruit appoint commission employ | einstellen engagieren beauftragen | embaucher engager recruter | contratar | contratar | assumere ingaggiare | aannemen inhuren | 雇 聘 招 | 雇 採用
sell: sell sale | verkaufen | vendre | vender | vender | vendere | verkopen | 卖 出售 | 販売 売
rent: rent lease let hire | mieten vermieten pachten | louer | alquilar | alugar arrendar | affittare noleggiare | huren | 租 | 借り レンタル
cancel: cancel terminate quit resign give-notice notice revoke unsubscribe termination | kündigen stornieren absagen | annuler résilier | cancelar rescindir | cancelar rescindir | annullare disdire | opzeggen annuleren | 取消 退订 终止 | 解約 取消 キャンセル
send: send mail email e-mail submit dispatch forward post deliver transmit ship hand-in file lodge share cc circulate issue distribute upload | senden schicken verschicken versenden abschicken einreichen mailen zustellen übermitteln weiterleiten | envoyer expédier transmettre soumettre adresser poster | enviar mandar remitir entregar presentar | enviar mandar remeter entregar submeter | inviare spedire mandare trasmettere inoltrare | sturen versturen verzenden opsturen mailen indienen | 发送 发出 寄 提交 发给 | 送 送信 送付 発送 提出
submit: submit file lodge hand-in turn-in apply enter register upload | einreichen abgeben beantragen | soumettre déposer remettre | presentar entregar | submeter entregar apresentar | presentare depositare consegnare | indienen inleveren | 提交 递交 申请 | 提出 申請
give: give hand hand-over return pass deliver leave drop-off surrender | geben übergeben übergabe abgeben zurückgeben | donner remettre rendre | dar entregar devolver | dar entregar devolver | dare consegnare restituire | geven overhandigen inleveren teruggeven | 给 交 归还 | 渡 返却 引き渡
notify: tell inform notify announce brief let-know email message ping communicate alert update invite introduce present | informieren mitteilen benachrichtigen bescheid ankündigen | informer prévenir annoncer avertir aviser | informar avisar comunicar anunciar | informar avisar comunicar anunciar | informare avvisare comunicare annunciare | informeren melden laten-weten inlichten | 通知 告知 宣布 | 連絡 知らせ 通知 案内
introduce: introduce present meet welcome | vorstellen begrüßen | présenter | presentar | apresentar | presentare | voorstellen | 介绍 | 紹介
call: call phone ring dial contact reach speak talk | anrufen telefonieren kontaktieren erreichen sprechen | appeler téléphoner contacter joindre | llamar telefonear contactar | ligar telefonar contactar | chiamare telefonare contattare | bellen opbellen contacteren | 打电话 联系 致电 | 電話 連絡
contact: contact reach approach write call mail message ask speak talk | kontaktieren ansprechen anschreiben | contacter joindre | contactar | contactar | contattare | contacteren benaderen | 联系 | 連絡
meet: meet interview talk speak sit-down consult discuss question | treffen sprechen befragen interviewen besprechen | rencontrer interroger interviewer discuter | reunir entrevistar hablar | reunir entrevistar falar | incontrare intervistare parlare | ontmoeten interviewen spreken bespreken | 采访 会见 访谈 面谈 | 面談 インタビュー 打ち合わせ
invite: invite invitation ask summon call | einladen | inviter convier | invitar | convidar | invitare | uitnodigen | 邀请 | 招待
ask: ask request inquire query solicit demand clarify | fragen bitten anfragen erfragen anfordern | demander solliciter | preguntar pedir solicitar | perguntar pedir solicitar | chiedere domandare richiedere | vragen verzoeken aanvragen | 问 询问 请求 索取 | 聞 質問 依頼
clarify: clarify clear settle agree define specify understand resolve | klären abstimmen | clarifier préciser éclaircir | aclarar precisar | esclarecer | chiarire | ophelderen afstemmen | 澄清 明确 确定 | 明確 確認
agree: agree settle decide fix determine set approve sign negotiate | einigen vereinbaren abstimmen | convenir accorder | acordar pactar | acordar combinar | concordare accordare | afspreken overeenkomen | 商定 同意 约定 | 合意 決定
negotiate: negotiate bargain agree haggle settle | verhandeln aushandeln | négocier | negociar | negociar | negoziare contrattare | onderhandelen | 谈判 协商 | 交渉
approve: approve sign-off sign okay accept authorise authorize clear permit grant accept bless green-light agree review | genehmigen freigeben abnehmen zustimmen bewilligen | approuver valider autoriser accepter | aprobar autorizar aceptar | aprovar autorizar aceitar | approvare autorizzare accettare | goedkeuren toestemmen | 批准 同意 审批 通过 | 承認 許可
sign: sign signature countersign initial sign-off execute | unterschreiben unterzeichnen | signer parapher | firmar | assinar | firmare | ondertekenen tekenen | 签 签字 签署 | 署名 サイン 締結
acknowledge: acknowledge ack confirm accept | bestätigen quittieren | confirmer accuser | confirmar acusar | confirmar | confermare | bevestigen | 确认 | 確認 承認
confirm: confirm verify validate acknowledge approve | bestätigen | confirmer valider | confirmar | confirmar | confermare | bevestigen | 确认 | 確認
find: find locate identify discover determine pinpoint isolate bisect narrow trace track-down figure-out diagnose uncover search spot establish detect root-cause understand investigate know cause culprit | finden ermitteln feststellen suchen herausfinden eingrenzen | trouver chercher identifier déterminer localiser | encontrar buscar hallar localizar identificar determinar | encontrar procurar achar localizar identificar determinar | trovare cercare individuare identificare | vinden zoeken opsporen vaststellen | 找 寻找 找到 查明 定位 查 | 見つけ 探 特定 判明 調査 突き止
research: research investigate study explore survey analyse analyze look-into examine read search understand learn | recherchieren erforschen untersuchen erkunden | rechercher étudier examiner explorer | investigar estudiar examinar explorar | pesquisar investigar estudar examinar | ricercare studiare esaminare indagare | onderzoeken bestuderen | 研究 调查 调研 查 | 調査 調べ 研究
choose: choose find select pick decide settle opt go-with go-for determine elect shortlist suit choice | wählen auswählen aussuchen entscheiden | choisir sélectionner décider | elegir escoger seleccionar decidir | escolher selecionar decidir | scegliere selezionare decidere | kiezen selecteren uitkiezen | 选 选择 挑选 决定 | 選 選択 決定 決め
decide: decide choose settle conclude determine agree pick go-with decision | entscheiden beschließen | décider trancher | decidir | decidir | decidere | beslissen besluiten | 决定 | 決定 決め
plan: plan schedule outline design arrange map-out organise organize | planen organisieren | planifier organiser | planificar organizar | planear planejar organizar | pianificare organizzare | plannen organiseren | 计划 规划 安排 | 計画 企画
schedule: schedule arrange plan set calendar book date slot time | ansetzen terminieren planen | planifier fixer | programar agendar fijar | agendar marcar | programmare fissare | inplannen afspreken | 安排 排期 | 日程 調整
organise: organise organize arrange coordinate sort plan order | organisieren ordnen sortieren | organiser trier ranger | organizar ordenar | organizar arrumar | organizzare ordinare | organiseren ordenen | 组织 整理 | 整理 手配
write: write draft author compose formulate pen jot document describe word script type | schreiben verfassen entwerfen formulieren | rédiger écrire composer | escribir redactar | escrever redigir | scrivere redigere comporre | schrijven opstellen | 写 编写 撰写 起草 | 書 作成 執筆 記述
draft: draft write outline sketch prepare compose formulate | entwerfen verfassen schreiben | ébaucher rédiger esquisser | redactar esbozar | rascunhar redigir esboçar | abbozzare redigere | opstellen schrijven | 起草 草拟 写 | 起草 下書き
edit: edit revise rewrite rework polish proofread copyedit correct amend adjust improve refine shorten cut tidy change | überarbeiten korrigieren redigieren ändern | réviser relire corriger remanier retravailler | editar revisar corregir | editar rever revisar corrigir | rivedere correggere modificare | bewerken herzien corrigeren | 修改 修订 润色 编辑 校对 | 編集 校正 推敲 修正
proofread: proofread check review correct read | korrekturlesen lektorieren | relire | corregir revisar | rever revisar | rileggere correggere | nalezen corrigeren | 校对 | 校正
translate: translate localise localize translation | übersetzen | traduire | traducir | traduzir | tradurre | vertalen | 翻译 译 | 翻訳
summarise: summarise summarize condense sum-up recap | zusammenfassen | résumer | resumir | resumir | riassumere | samenvatten | 总结 | 要約 まとめ
document: document describe write record note explain log | dokumentieren beschreiben | documenter décrire | documentar describir | documentar descrever | documentare descrivere | documenteren beschrijven | 记录 文档 | 文書化 記録
publish: publish release post upload deploy launch online announce push go-live air | veröffentlichen publizieren posten hochladen | publier diffuser | publicar lanzar | publicar lançar | pubblicare | publiceren | 发布 发表 上线 | 公開 発表 リリース
release: release publish ship tag launch cut roll-out deliver | veröffentlichen freigeben ausliefern | publier sortir livrer | publicar lanzar liberar | publicar lançar | rilasciare pubblicare | uitbrengen vrijgeven | 发布 上线 | リリース 公開
deploy: deploy roll-out release ship launch install push upgrade promote go-live rollout deployment | ausrollen deployen einspielen bereitstellen | déployer | desplegar | implantar fazer-deploy | distribuire deployare | uitrollen deployen | 部署 上线 发布 | デプロイ 配備
launch: launch start kick-off open begin release go-live | starten | lancer démarrer | lanzar iniciar | lançar iniciar | lanciare avviare | lanceren starten | 启动 上线 | 開始 起動
upload: upload push send put submit post publish | hochladen | téléverser charger | subir cargar | carregar enviar | caricare | uploaden | 上传 | アップロード
push: push upload publish pushed | pushen hochladen | pousser | subir | enviar | caricare | pushen | 推送 | プッシュ
pull: pull fetch download update | pullen holen | tirer récupérer | bajar | puxar baixar | scaricare | ophalen | 拉取 | プル 取得
download: download fetch pull get save complete | herunterladen laden | télécharger | descargar bajar | descarregar baixar transferir | scaricare | downloaden | 下载 | ダウンロード
clone: clone check-out checkout copy fetch | klonen auschecken | cloner | clonar | clonar | clonare | klonen | 克隆 检出 | クローン
checkout: check-out checkout clone switch fetch | auschecken | extraire | | | | uitchecken | 检出 | チェックアウト
build: build compile assemble package bundle make create construct image | bauen kompilieren erstellen | construire compiler bâtir | construir compilar | construir compilar | costruire compilare | bouwen compileren | 构建 编译 建 打包 | ビルド 構築 組み立て
construct: construct build erect assemble put-up raise set-up mount frame | bauen errichten aufbauen | construire monter ériger | construir montar levantar | construir montar erguer | costruire montare erigere | bouwen opzetten | 搭建 建造 | 建設 組み立て
assemble: assemble build put-together mount construct fit set-up | zusammenbauen montieren aufbauen | assembler monter | montar ensamblar | montar | assemblare montare | monteren samenstellen | 组装 | 組み立て
make: make create produce build prepare craft do generate | machen erstellen herstellen anfertigen | faire créer fabriquer | hacer crear elaborar | fazer criar elaborar | fare creare produrre | maken | 做 制作 制定 | 作 作成
create: create make set-up generate produce build establish open add define | erstellen anlegen erzeugen einrichten | créer établir | crear establecer | criar estabelecer | creare stabilire | maken aanmaken | 创建 建立 新建 | 作成 作る 新規
design: design draw sketch mock-up layout lay-out model devise create draft | entwerfen gestalten zeichnen | concevoir dessiner | diseñar dibujar | desenhar projetar conceber | progettare disegnare | ontwerpen tekenen | 设计 画 | 設計 デザイン
layout: lay-out layout typeset format arrange design set | setzen gestalten layouten | mettre-en-page | maquetar | paginar diagramar | impaginare | opmaken vormgeven | 排版 布局 | レイアウト 組版
draw: draw sketch plot chart diagram illustrate paint | zeichnen skizzieren | dessiner tracer | dibujar trazar | desenhar traçar | disegnare tracciare | tekenen schetsen | 画 绘制 | 描 作図
plot: plot chart graph draw visualise visualize figure render | plotten darstellen | tracer | graficar trazar | traçar plotar | tracciare | plotten | 绘图 画图 | プロット 描画
implement: implement code write build add develop program support handle introduce realise land | implementieren umsetzen programmieren entwickeln einbauen | implémenter développer coder | implementar programar desarrollar | implementar programar desenvolver | implementare programmare sviluppare | implementeren programmeren ontwikkelen bouwen | 实现 开发 编码 | 実装 開発
develop: develop implement build code create write program | entwickeln | développer | desarrollar | desenvolver | sviluppare | ontwikkelen | 开发 研发 | 開発
add: add include insert append introduce put create extend supplement enter implement attach | hinzufügen ergänzen einfügen | ajouter insérer compléter | añadir agregar incluir | adicionar acrescentar incluir | aggiungere inserire | toevoegen aanvullen | 添加 增加 加 补充 | 追加 加え
extend: extend expand widen enlarge grow add | erweitern ergänzen ausbauen | étendre élargir | ampliar extender | ampliar estender | estendere ampliare | uitbreiden | 扩展 | 拡張
fix: fix repair solve resolve correct patch cure mend debug remedy work-around address handle | beheben reparieren korrigieren lösen fixen | corriger réparer résoudre | corregir arreglar reparar solucionar | corrigir consertar reparar resolver | correggere riparare risolvere sistemare | oplossen repareren herstellen | 修复 修 解决 修好 修正 | 修正 直 解決
repair: repair fix mend restore replace patch | reparieren instandsetzen | réparer | reparar arreglar | reparar consertar | riparare | repareren herstellen | 修理 维修 | 修理
handle: handle deal support process treat manage ignore dedupe catch address | behandeln verarbeiten | traiter gérer | gestionar manejar tratar | tratar gerir | gestire trattare | afhandelen verwerken | 处理 | 処理 対応
process: process handle work-through | bearbeiten verarbeiten | traiter | procesar tramitar | processar | elaborare | verwerken | 处理 | 処理
refactor: refactor restructure clean-up rewrite simplify extract split move rework | umbauen refaktorieren | remanier restructurer | refactorizar | refatorar | rifattorizzare | refactoren herstructureren | 重构 | リファクタ
remove: remove delete drop clear strip purge erase take-out take-off get-rid dispose eliminate discard demolish tear-down rip-out pull-out | entfernen löschen abbauen beseitigen abreißen | supprimer enlever retirer effacer | eliminar quitar borrar suprimir | remover apagar eliminar retirar | rimuovere eliminare togliere cancellare | verwijderen wissen weghalen | 删除 移除 去掉 拆 | 削除 除去 撤去
replace: replace swap exchange substitute switch change renew | ersetzen austauschen tauschen | remplacer échanger changer | reemplazar sustituir cambiar | substituir trocar | sostituire cambiare | vervangen omruilen | 替换 更换 换 | 交換 置換 差し替
change: change modify alter adjust switch update swap edit fresh | ändern anpassen wechseln | changer modifier adapter | cambiar modificar ajustar | mudar alterar ajustar | cambiare modificare | wijzigen aanpassen veranderen | 更改 修改 调整 换 | 変更 調整 交換
update: update upgrade refresh bump renew revise amend edit change add extend | aktualisieren auffrischen | actualiser mettre-à-jour | actualizar | atualizar | aggiornare | bijwerken actualiseren updaten | 更新 升级 | 更新 アップデート
upgrade: upgrade update bump migrate move version raise | aktualisieren hochziehen | mettre-à-niveau | actualizar mejorar | atualizar | aggiornare | upgraden | 升级 | アップグレード
bump: bump raise increase update version set | erhöhen anheben | augmenter | subir aumentar | aumentar | aumentare | verhogen | 提升 | 上げ
version: version bump tag number release | | | | | | | 版本 | バージョン
tag: tag label mark version | taggen kennzeichnen | étiqueter | etiquetar | etiquetar | etichettare | taggen labelen | 标签 | タグ
migrate: migrate move convert port transfer switch upgrade apply run | migrieren umziehen übertragen | migrer transférer | migrar trasladar | migrar transferir | migrare trasferire | migreren overzetten | 迁移 | 移行
convert: convert transform translate port migrate turn change | konvertieren umwandeln | convertir transformer | convertir transformar | converter transformar | convertire trasformare | omzetten converteren | 转换 | 変換
switch: switch cut-over move change flip toggle turn migrate route point swap | umstellen umschalten wechseln | basculer passer | cambiar pasar | mudar trocar passar | passare cambiare | overschakelen omzetten | 切换 | 切り替
move: move relocate transfer migrate shift carry transport bring | umziehen verschieben bewegen transportieren | déménager déplacer transporter | mudar mover trasladar | mudar mover transportar | spostare traslocare trasportare | verhuizen verplaatsen | 搬 移动 搬家 | 移動 引っ越 運
transport: transport haul ship carry drive bring move deliver | transportieren bringen | transporter | transportar llevar | transportar levar | trasportare | vervoeren | 运输 | 運
apply: apply run execute migrate put use | anwenden einspielen auftragen | appliquer | aplicar | aplicar | applicare | toepassen aanbrengen | 应用 执行 | 適用
run: run execute perform launch carry-out do process apply start pass | ausführen laufen durchführen starten | exécuter lancer effectuer mener | ejecutar correr realizar | executar rodar correr realizar | eseguire lanciare svolgere | uitvoeren draaien | 运行 执行 跑 | 実行 走 回
perform: perform do carry-out conduct run hold execute complete | durchführen ausführen | effectuer mener réaliser | realizar llevar-a-cabo | realizar efetuar conduzir | svolgere effettuare condurre | uitvoeren verrichten | 进行 执行 | 実施 行
conduct: conduct hold run carry-out do perform interview lead | führen durchführen | mener conduire | conducir realizar llevar | conduzir realizar | condurre svolgere | houden afnemen | 开展 进行 | 実施
start: start begin launch boot kick-off turn-on power-on run open restart | starten beginnen hochfahren anschalten | démarrer lancer commencer | iniciar arrancar empezar | iniciar arrancar ligar começar | avviare iniziare | starten beginnen | 启动 开始 开启 | 起動 開始
restart: restart reboot bounce reload start | neustarten | redémarrer relancer | reiniciar | reiniciar | riavviare | herstarten | 重启 | 再起動
stop: stop halt shut-down turn-off switch-off kill quiesce pause | stoppen anhalten abschalten herunterfahren | arrêter stopper éteindre | detener parar apagar | parar desligar | fermare spegnere arrestare | stoppen uitschakelen | 停止 关闭 停 | 停止
connect: connect ssh log-in login link wire join attach hook-up | verbinden anschließen einloggen | connecter brancher relier | conectar | conectar ligar | collegare connettere | verbinden aansluiten | 连接 登录 | 接続 ログイン
configure: configure set-up setup adjust set settings enable prepare customise | konfigurieren einstellen einrichten | configurer régler paramétrer | configurar ajustar | configurar ajustar | configurare impostare | configureren instellen | 配置 设置 | 設定 構成
setup: set-up setup install configure prepare create initialise initialize init arrange establish provision place | einrichten aufsetzen aufbauen anlegen | installer configurer mettre-en-place | montar configurar preparar instalar | montar configurar preparar instalar | configurare allestire preparare installare | opzetten inrichten installeren | 设置 搭建 安装 布置 | 設定 準備 構築 セットアップ
install: install set-up mount fit put-in add deploy place attach hang fix | installieren einbauen montieren anbringen | installer poser monter | instalar montar | instalar montar | installare montare | installeren monteren plaatsen | 安装 装 | インストール 設置 取り付け
enable: enable activate turn-on switch-on allow | aktivieren einschalten | activer | activar habilitar | ativar habilitar | attivare abilitare | inschakelen activeren | 启用 开启 | 有効
disable: disable deactivate turn-off switch-off | deaktivieren abschalten | désactiver | desactivar | desativar | disattivare | uitschakelen | 禁用 | 無効
test: test check try pass verify suite run validate probe exercise | testen prüfen erproben | tester essayer vérifier | probar testear comprobar | testar experimentar verificar | testare provare | testen beproeven | 测试 试 通过 | テスト 試験 通
verify: verify check confirm validate test ensure pass compare inspect match look review see | prüfen überprüfen kontrollieren verifizieren stimmen | vérifier contrôler valider | verificar comprobar | verificar conferir comprovar | verificare controllare | controleren verifiëren nakijken | 验证 检查 核对 确认 | 確認 検証
check: check verify inspect examine review test look control validate audit see match compare correct pass fact-check confirm go-through | prüfen überprüfen kontrollieren nachsehen checken | vérifier contrôler | comprobar revisar verificar | verificar conferir checar rever | controllare verificare | controleren nakijken checken | 检查 核对 查 | 確認 チェック 点検
inspect: inspect check examine look survey view visit | besichtigen prüfen inspizieren | inspecter examiner visiter | inspeccionar examinar visitar | inspecionar vistoriar visitar | ispezionare visitare | inspecteren bekijken | 检查 视察 | 検査 点検
review: review read look check examine inspect comment approve sign-off go-through feedback assess lgtm revise | prüfen begutachten durchsehen reviewen | réviser relire examiner | revisar examinar | rever revisar analisar | rivedere esaminare revisionare | beoordelen nakijken reviewen | 审查 评审 审核 复习 | レビュー 確認 査読
audit: audit check review inspect examine | prüfen auditieren | auditer | auditar | auditar | verificare | auditen | 审计 | 監査
compare: compare match contrast diff reconcile agree benchmark tally | vergleichen abgleichen | comparer | comparar contrastar | comparar | confrontare comparare | vergelijken | 比较 对比 核对 一致 | 比較 照合
benchmark: benchmark measure profile time compare faster slower bench | messen benchmarken | mesurer | medir comparar | medir | misurare | meten | 基准测试 测量 | ベンチマーク 計測
measure: measure gauge time weigh profile record quantify read benchmark count | messen vermessen wiegen | mesurer peser | medir pesar | medir pesar | misurare pesare | meten wegen | 测量 量 | 測定 計測
count: count tally number total inventory | zählen | compter | contar | contar | contare | tellen | 数 统计 盘点 | 数え 集計
calculate: calculate compute work-out reckon estimate sum total evaluate | berechnen ausrechnen | calculer | calcular | calcular | calcolare | berekenen | 计算 | 計算
estimate: estimate assess calculate quote size | schätzen | estimer évaluer | estimar | estimar | stimare | schatten | 估算 | 見積
evaluate: evaluate assess measure score test judge rate grade review analyse | bewerten auswerten beurteilen | évaluer | evaluar valorar | avaliar | valutare | evalueren beoordelen | 评估 评价 | 評価
grade: grade mark score correct assess | benoten korrigieren bewerten | noter corriger | calificar corregir | corrigir avaliar | valutare correggere | nakijken beoordelen | 批改 评分 | 採点
analyse: analyse analyze evaluate examine study investigate model fit process | analysieren auswerten | analyser | analizar | analisar | analizzare | analyseren | 分析 | 分析 解析
train: train teach fit learn coach instruct school | trainieren schulen | entraîner former | entrenar formar | treinar formar | addestrare formare allenare | trainen opleiden | 训练 培训 | 訓練 学習 研修
tune: tune optimise optimize adjust search sweep best | abstimmen optimieren | régler optimiser | ajustar optimizar | ajustar otimizar | ottimizzare regolare | afstellen optimaliseren | 调整 调优 | 調整 最適化
optimise: optimise optimize tune speed-up improve faster | optimieren verbessern | optimiser | optimizar | otimizar | ottimizzare | optimaliseren | 优化 | 最適化
improve: improve enhance better polish refine | verbessern | améliorer | mejorar | melhorar | migliorare | verbeteren | 改进 改善 | 改善
reproduce: reproduce repro replicate recreate trigger happen | reproduzieren nachstellen | reproduire | reproducir | reproduzir | riprodurre | reproduceren | 重现 复现 | 再現
debug: debug diagnose find trace fix investigate | debuggen | déboguer | depurar | depurar | debuggare | debuggen | 调试 | デバッグ
load: load import read ingest fetch fill | laden einlesen | charger | cargar | carregar | caricare | laden | 加载 装载 导入 | 読み込 ロード
import: import load ingest read bring-in | importieren einlesen | importer | importar | importar | importare | importeren | 导入 | 取り込 インポート
export: export dump extract save write | exportieren ausgeben | exporter | exportar | exportar | esportare | exporteren | 导出 | エクスポート 出力
extract: extract pull isolate take-out derive export unpack | extrahieren entnehmen | extraire | extraer | extrair | estrarre | extraheren | 提取 | 抽出
clean: clean tidy wash sweep scrub wipe clear deduplicate impute sanitise vacuum mop dust cleanup | putzen reinigen säubern aufräumen bereinigen | nettoyer ranger laver | limpiar ordenar lavar | limpar arrumar lavar | pulire lavare riordinare | schoonmaken opruimen opschonen poetsen | 清理 打扫 清洗 清洁 | 掃除 清掃 片付け 洗
deduplicate: deduplicate dedupe merge duplicate | | dédoublonner | | | | ontdubbelen | 去重 | 重複
filter: filter select exclude sift | filtern | filtrer | filtrar | filtrar | filtrare | filteren | 过滤 筛选 | 絞り込
fill: fill add complete populate fill-in fill-out backfill enter | füllen ausfüllen | remplir compléter | llenar rellenar completar | preencher encher | compilare riempire | invullen vullen | 填写 填 | 記入 入力
enter: enter input type key record fill register | eingeben eintragen | saisir inscrire | introducir ingresar | introduzir inserir | inserire immettere | invoeren | 输入 录入 | 入力
register: register enrol enroll sign-up record apply list log | anmelden registrieren eintragen ummelden | inscrire enregistrer | registrar inscribir | registar registrar inscrever | registrare iscrivere | aanmelden inschrijven registreren | 注册 登记 报名 | 登録 申込
record: record log note capture film tape shoot write | aufnehmen erfassen aufzeichnen | enregistrer noter | grabar registrar anotar | gravar registar anotar | registrare annotare | opnemen vastleggen | 记录 录制 | 記録 録音 録画
backup: back-up backup dump snapshot copy save archive | sichern | sauvegarder | respaldar copiar copia | copiar | salvare | back-uppen veiligstellen | 备份 | バックアップ
copy: copy duplicate clone replicate backup dump | kopieren | copier | copiar copia | copiar cópia | copiare copia | kopiëren | 复制 拷贝 | 複製 コピー
restore: restore recover bring-back roll-back revert return | wiederherstellen | restaurer rétablir | restaurar recuperar | restaurar recuperar | ripristinare | herstellen terugzetten | 恢复 | 復元 復旧
rollback: roll-back rollback revert undo restore downgrade | zurückrollen zurücksetzen | annuler revenir | revertir | reverter | ripristinare annullare | terugdraaien | 回滚 | ロールバック
open: open create raise file submit start | öffnen eröffnen aufmachen | ouvrir créer | abrir crear | abrir criar | aprire creare | openen aanmaken | 打开 开 创建 | 開 作成 オープン
close: close shut seal finish end resolve | schließen abschließen | fermer clore | cerrar | fechar encerrar | chiudere | sluiten | 关闭 关 | 閉 クローズ
merge: merge land integrate combine squash accept | zusammenführen mergen | fusionner intégrer | fusionar integrar | fundir integrar mesclar | unire integrare fondere | samenvoegen mergen | 合并 | マージ 統合
commit: commit check-in save push land | committen einchecken | valider committer | | | | committen | 提交 | コミット
save: save store keep record write | speichern | enregistrer sauvegarder | guardar | guardar salvar | salvare | opslaan bewaren | 保存 | 保存
file: file archive store sort put-away submit folder lodge | ablegen abheften | classer archiver | archivar | arquivar | archiviare | archiveren opbergen | 归档 | 保管
archive: archive store file shelve | archivieren | archiver | archivar | arquivar | archiviare | archiveren | 归档 存档 | 保管 アーカイブ
pack: pack wrap box bag load package | packen einpacken verpacken | emballer faire-la-valise | empacar embalar empaquetar maleta | embalar empacotar | imballare impacchettare | pakken inpakken | 打包 收拾 装 | 荷造り 梱包 詰め
unpack: unpack unbox empty | auspacken | déballer | desempacar | desembalar | disimballare | uitpakken | 拆 拆包 | 開梱 荷ほどき
empty: empty clear clean-out drain | leeren ausräumen | vider | vaciar | esvaziar | svuotare | legen leegmaken | 清空 | 空
prepare: prepare ready set-up make draft put-together lay-out get-ready arrange write finish mix create | vorbereiten erstellen fertigmachen | préparer apprêter | preparar | preparar | preparare | voorbereiden klaarmaken | 准备 备 | 準備 用意 作成
print: print run-off hard-copy | drucken ausdrucken | imprimer | imprimir | imprimir | stampare | printen afdrukken | 打印 印 | 印刷 プリント
scan: scan digitise digitize copy | scannen | scanner numériser | escanear | digitalizar | scansionare | scannen | 扫描 | スキャン
photograph: photograph image shoot picture photo capture snap | fotografieren | photographier | fotografiar | fotografar | fotografare | fotograferen | 拍照 拍 | 撮影
teach: teach give lecture hold present lesson | unterrichten lehren halten | enseigner donner | enseñar dar impartir | ensinar dar | insegnare tenere | lesgeven | 教 讲课 | 教 授業
present: present give show pitch demo hold talk demonstrate | vorstellen präsentieren halten | présenter montrer | presentar mostrar | apresentar mostrar | presentare mostrare | presenteren tonen | 演示 介绍 | 発表 紹介
rehearse: rehearse practise practice run-through dry-run | proben üben | répéter | ensayar | ensaiar | provare | oefenen repeteren | 排练 练习 | 練習 リハーサル
study: study learn revise read practise | lernen studieren | étudier apprendre | estudiar aprender | estudar aprender | studiare imparare | studeren leren | 学习 复习 | 勉強 学習
read: read go-through study skim look review | lesen durchlesen | lire parcourir | leer | ler | leggere | lezen | 读 阅读 看 | 読
give-talk: give hold deliver present speak | halten | donner tenir | dar | dar | tenere | geven houden | 演讲 | 発表 講演
recruit: recruit enrol enroll hire sign-up find people participant | anwerben rekrutieren gewinnen | recruter | reclutar | recrutar | reclutare | werven | 招募 招聘 | 募集 採用
visit: visit tour view see attend inspect | besuchen besichtigen | visiter | visitar | visitar | visitare | bezoeken | 参观 访问 拜访 | 訪問 見学
travel: travel drive fly ride | reisen fahren fliegen | voyager aller | viajar ir | viajar ir | viaggiare andare | reizen gaan | 去 出发 旅行 | 行 移動 出発
cook: cook bake prepare make roast fry boil | kochen backen | cuisiner cuire | cocinar hornear | cozinhar assar | cucinare cuocere | koken bakken | 做饭 烹饪 烤 | 料理 調理 焼
clear: clear empty remove tidy free clean vacate demolish | räumen freimachen | dégager débarrasser | despejar vaciar | desimpedir esvaziar | sgombrare liberare | leegruimen vrijmaken | 清空 腾 | 片付け
level: level flatten grade even | ebnen nivellieren | niveler aplanir | nivelar | nivelar | livellare | egaliseren | 平整 | 整地
dig: dig excavate trench | graben ausheben | creuser | cavar excavar | cavar escavar | scavare | graven | 挖 | 掘
pour: pour cast fill concrete | gießen schütten betonieren | couler verser | verter colar hormigonar | verter betonar | versare gettare | storten gieten | 浇 倒 | 打設 流し込
paint: paint coat varnish prime colour color | streichen malen lackieren | peindre | pintar | pintar | dipingere pitturare verniciare | verven schilderen | 刷 涂 油漆 粉刷 | 塗装 塗
seal: seal waterproof caulk close | abdichten versiegeln | sceller étanchéifier | sellar impermeabilizar | selar vedar impermeabilizar | sigillare impermeabilizzare | afdichten verzegelen | 密封 防水 | 防水 密封
lay: lay place install put tile put-down set | verlegen legen | poser | colocar poner | colocar assentar | posare | leggen | 铺 铺设 | 敷 貼
tile: tile grout | fliesen | carreler | alicatar | azulejar | piastrellare | betegelen | 贴砖 | タイル
cover: cover roof top close coat wrap | decken abdecken | couvrir | cubrir techar | cobrir | coprire | bedekken dekken | 盖 覆盖 | 覆 葺
cut: cut saw trim chop slice | schneiden sägen | couper scier | cortar serrar | cortar serrar | tagliare segare | snijden zagen | 切 锯 | 切
drill: drill bore | bohren | percer | taladrar perforar | furar | forare trapanare | boren | 钻 | 穴
plant: plant sow | pflanzen säen | planter semer | plantar sembrar | plantar semear | piantare seminare | planten zaaien | 种 播 | 植 種
water: water irrigate | gießen wässern | arroser | regar | regar | annaffiare | water-geven | 浇水 | 水やり
wire: wire cable connect rewire | verkabeln verdrahten | câbler | cablear | cablar | cablare | bedraden | 布线 接线 | 配線
thaw: thaw defrost | auftauen | décongeler | descongelar | descongelar | scongelare | ontdooien | 解冻 | 解凍
mix: mix blend stir combine prepare | mischen rühren | mélanger | mezclar | misturar | mescolare | mengen | 混合 搅拌 | 混ぜ 混合
incubate: incubate grow culture | inkubieren | incuber | incubar | incubar | incubare | incuberen | 培养 孵育 | 培養
passage: passage split subculture | | repiquer | | | | | 传代 | 継代
transfect: transfect transform transduce | | | | | | | 转染 | 
centrifuge: centrifuge spin | zentrifugieren | centrifuger | centrifugar | centrifugar | centrifugare | centrifugeren | 离心 | 遠心
dry: dry air cure | trocknen | sécher | secar | secar | asciugare | drogen | 晾干 干燥 | 乾
heat: heat warm boil | erhitzen heizen | chauffer | calentar | aquecer | riscaldare | verhitten | 加热 | 加熱
serve: serve dish offer | servieren | servir | servir | servir | servire | serveren | 上菜 | 出
decorate: decorate adorn dress hang | dekorieren schmücken | décorer | decorar adornar | decorar enfeitar | decorare addobbare | versieren | 装饰 布置 | 飾
hang: hang mount put-up fix | aufhängen | accrocher suspendre | colgar | pendurar | appendere | ophangen | 挂 | 掛け
invoice: invoice bill charge | fakturieren | facturer | facturar | faturar | fatturare | factureren | 开票 | 請求
quote: quote offer estimate price tender | anbieten | chiffrer | cotizar | orçar | preventivare | offreren | 报价 | 見積
insure: insure insurance cover policy | versichern | assurer | asegurar | segurar | assicurare | verzekeren | 投保 | 保険
apply-for: apply request file submit application | beantragen bewerben | demander postuler | solicitar | solicitar candidatar | richiedere candidare | aanvragen solliciteren | 申请 | 申請 応募
vote: vote ballot poll elect | abstimmen wählen | voter | votar | votar | votare | stemmen | 投票 | 投票
claim: claim sue file demand | einklagen | réclamer | reclamar demandar | reclamar processar | reclamare | eisen claimen | 索赔 起诉 | 請求 訴
serve-papers: serve deliver notify | zustellen | signifier | notificar | citar | notificare | betekenen | 送达 | 送達
monitor: monitor watch observe track follow | überwachen beobachten | surveiller suivre | monitorizar vigilar seguir | monitorar acompanhar vigiar | monitorare osservare | monitoren bewaken volgen | 监控 监测 观察 | 監視 観察
follow-up: follow-up chase remind | nachfassen erinnern | relancer | recordar insistir | lembrar | sollecitare | opvolgen herinneren | 跟进 催 | フォロー 催促
welcome: welcome greet receive onboard | begrüßen empfangen | accueillir | recibir acoger | receber acolher | accogliere | verwelkomen ontvangen | 迎接 欢迎 | 迎え 歓迎
distribute: distribute hand-out circulate share spread deliver | verteilen austeilen | distribuer répartir | distribuir repartir | distribuir | distribuire | verdelen uitdelen | 分发 | 配布 配
assign: assign allocate delegate appoint give | zuweisen zuteilen | attribuer assigner | asignar | atribuir designar | assegnare | toewijzen | 分配 指派 | 割り当て
sort: sort order arrange classify group rank | sortieren ordnen | trier classer | ordenar clasificar | ordenar classificar | ordinare classificare | sorteren | 排序 分类 整理 | 並べ 分類 整理
label: label tag mark annotate name | beschriften etikettieren | étiqueter annoter | etiquetar anotar | etiquetar rotular anotar | etichettare annotare | labelen | 标注 贴标签 | ラベル 注釈
store: store put keep save stow shelve | lagern aufbewahren | stocker ranger | almacenar guardar | armazenar guardar | immagazzinare conservare | opslaan bewaren | 存放 储存 | 保管 収納
trim: trim cut prune shorten | kürzen stutzen | tailler couper | recortar podar | aparar podar | potare tagliare | snoeien inkorten | 修剪 | 剪定
secure: secure protect lock harden encrypt guard | sichern absichern | sécuriser protéger | asegurar proteger | proteger | proteggere | beveiligen | 加固 保护 | 保護
rotate: rotate renew replace change swap issue | rotieren erneuern | renouveler | rotar renovar | rotacionar renovar | ruotare rinnovare | roteren vernieuwen | 轮换 更换 | 更新 ローテート
renew: renew extend prolong | verlängern erneuern | renouveler prolonger | renovar prorrogar | renovar prorrogar | rinnovare prorogare | verlengen vernieuwen | 续 更新 | 更新
scale: scale resize grow shrink | skalieren | redimensionner | escalar | escalar | scalare | schalen | 扩容 | 拡大
drain: drain cordon empty evict | entleeren | drainer vider | drenar vaciar | drenar esvaziar | drenare svuotare | leegmaken | 排空 | 排出
seed: seed populate fill | befüllen | peupler | poblar | popular | popolare | vullen | 填充 | 投入
validate: validate verify check test confirm pass | validieren prüfen | valider vérifier | validar | validar | convalidare validare | valideren | 验证 校验 | 検証
profile: profile measure trace benchmark | profilieren | profiler | perfilar | | profilare | profileren | 分析性能 | プロファイル
ship: ship send deliver dispatch release pick-up | versenden liefern ausliefern | expédier livrer | enviar despachar | enviar despachar | spedire consegnare | verzenden leveren | 发货 寄 | 発送 出荷
deliver: deliver hand-over bring ship drop-off arrive submit | liefern abliefern | livrer remettre | entregar | entregar | consegnare | leveren bezorgen | 交付 送 | 納品 配達
"""

# What it is done to. These are weaker evidence than actions: the same thing occurs in several steps.
_OBJECTS = """
duplicates: duplicate duplicates dupes dupe dubletten | dubletten | doublons | duplicados | duplicados | duplicati | dubbele dubbelen | 重复 | 重複
weather: weather forecast rain sun temperature | wetter vorhersage | météo temps | tiempo pronóstico | tempo previsão | meteo previsioni | weer voorspelling | 天气 | 天気
volunteers: volunteer volunteers helper helpers | helfer freiwillige | bénévoles | voluntarios | voluntários | volontari | vrijwilligers | 志愿者 | ボランティア
merge-request: mr pr merge-request pull-request merge pull request patch | | | | | | | 合并请求 | プルリクエスト
tests: test tests suite spec specs unit e2e pytest ci testcase case smoke regression | tests testfälle | tests | pruebas tests | testes | test | tests | 测试 用例 | テスト
ci: ci pipeline workflow actions build jenkins job | | | | | | | 流水线 | パイプライン
build: build image artifact binary package bundle container docker wheel | | | | | | | 镜像 | イメージ
container: container docker pod image service | | | | | | | 容器 | コンテナ
registry: registry ghcr hub docker.io ecr pypi npm index | | | | | | | 仓库 | レジストリ
server: server host machine box vm instance node | server rechner maschine | serveur machine | servidor máquina | servidor máquina | server macchina | server machine | 服务器 主机 | サーバー
cluster: cluster k8s kubernetes nodes node | | | | | | | 集群 | クラスター
production: production prod live | produktion | production | producción | produção | produzione | productie | 生产 生产环境 | 本番
staging: staging stage preprod | | | | | | | 预发 | ステージング
database: database db schema table tables postgres sql data dump | datenbank | base-de-données | base-de-datos | base-de-dados | database | database | 数据库 | データベース
schema: schema migration ddl column table | schema | schéma | esquema | esquema | schema | schema | 表结构 | スキーマ
migration: migration schema alembic ddl migrate | | | | | | | 迁移 | マイグレーション
data: data dataset rows records csv file corpus samples table values | daten datensatz | données | datos | dados | dati | gegevens data | 数据 | データ
values: value values nan nans null nulls missing | | | | | | | 值 | 値
backup: backup dump snapshot copy | sicherung backup | sauvegarde | copia respaldo | backup cópia | backup copia | back-up | 备份 | バックアップ
code: code source repo repository branch tree checkout | code quellcode | code | código | código | codice | code | 代码 | コード
repository: repository repo code clone | | dépôt | repositorio | repositório | repository | | 仓库 | リポジトリ
bug: bug crash defect issue problem error regression fault failure leak race deadlock exception | fehler bug absturz | bogue erreur bug | error fallo bug | erro falha bug | bug errore | fout bug | 错误 缺陷 崩溃 bug | バグ エラー 不具合
cause: cause culprit reason root origin source commit | ursache grund | cause | causa | causa | causa | oorzaak | 原因 | 原因
fix: fix patch hotfix change solution check correction | korrektur lösung | correctif | arreglo | correção | correzione | oplossing | 修复 | 修正
docs: docs doc documentation manual guide handbook readme page reference wiki | doku dokumentation handbuch anleitung | documentation manuel guide doc | documentación manual guía | documentação manual guia | documentazione manuale guida | documentatie handleiding | 文档 手册 | 文書 ドキュメント マニュアル
readme: readme docs doc documentation | | | | | | | |
changelog: changelog notes release-notes release history | | | | | | | 更新日志 | 変更履歴
runbook: runbook playbook docs wiki page | | | | | | | |
version: version release number tag v | version | version | versión | versão | versione | versie | 版本 | バージョン
endpoint: endpoint route api url handler post get path | endpunkt | | | | | | 接口 端点 | エンドポイント
signature: signature sign hmac ed25519 | unterschrift | signature | firma | assinatura | firma | handtekening | 签名 | 署名
cache: cache caching caches moka redis memcached ttl | | | | | | | 缓存 | キャッシュ
config: config configuration settings yaml toml env | konfiguration einstellungen | configuration paramètres | configuración ajustes | configuração | configurazione impostazioni | configuratie instellingen | 配置 设置 | 設定
account: account accounts user login vpn access credentials | konto konten zugang | compte comptes accès | cuenta acceso | conta acesso | conto account accesso | account toegang | 账号 帐户 | アカウント
certificate: certificate cert tls ssl | zertifikat | certificat | certificado | certificado | certificato | certificaat | 证书 | 証明書
dns: dns domain record zone | | domaine | dominio | domínio | dominio | domein | 域名 | ドメイン
alert: alert alarm page pager incident | alarm | alerte | alerta | alerta | allarme | alarm | 警报 告警 | アラート 警報
incident: incident outage downtime post-mortem postmortem | störung ausfall | incident panne | incidente | incidente | incidente | storing incident | 事故 故障 | 障害
report: report summary write-up writeup paper minutes memo | bericht report | rapport compte-rendu | informe reporte | relatório | rapporto relazione | rapport verslag | 报告 | 報告 レポート
paper: paper article manuscript draft text thesis | artikel aufsatz arbeit | article papier manuscrit | artículo | artigo | articolo | artikel paper | 论文 文章 | 論文 記事
text: text draft words copy chapter manuscript pages article | text entwurf | texte brouillon | texto borrador | texto rascunho | testo bozza | tekst concept | 文本 稿 | 原稿 文章
chapter: chapter section part intro introduction conclusion | kapitel abschnitt | chapitre section | capítulo sección | capítulo seção | capitolo sezione | hoofdstuk | 章 | 章
literature: literature papers sources references articles studies | literatur quellen | littérature sources | literatura fuentes | literatura fontes | letteratura fonti | literatuur bronnen | 文献 | 文献
figure: figure chart plot graph diagram picture figures results | abbildung grafik | figure graphique | figura gráfico | figura gráfico | figura grafico | figuur grafiek | 图 图表 | 図 グラフ
figures: figures numbers data stats | zahlen | chiffres | cifras | números | cifre | cijfers | 数字 | 数字
results: results findings outcome report figures | ergebnisse ergebnis | résultats | resultados | resultados | risultati | resultaten resultaat | 结果 | 結果
questionnaire: questionnaire survey form questions poll | fragebogen umfrage | questionnaire enquête | cuestionario encuesta | questionário inquérito | questionario sondaggio | vragenlijst enquête | 问卷 调查表 | アンケート 調査票
participants: participants people subjects volunteers respondents attendees guests | teilnehmer probanden | participants | participantes | participantes | partecipanti | deelnemers | 参与者 参加者 | 参加者
ethics: ethics board irb committee | ethik | éthique | ética | ética | etica | ethiek | 伦理 | 倫理
approval: approval permission permit consent sign-off clearance ok | genehmigung freigabe | approbation autorisation accord | aprobación permiso | aprovação autorização | approvazione permesso | goedkeuring toestemming | 批准 许可 | 承認 許可
ticket: ticket tickets train flight fare rail ice plane bus seat | fahrkarte fahrkarten ticket zug flug flugticket | billet billets train vol | billete billetes boleto tren vuelo | bilhete bilhetes passagem comboio voo | biglietto biglietti treno volo | kaartje ticket trein vlucht | 票 机票 车票 航班 | 切符 航空券 チケット
flight: flight plane ticket airline fly air | flug flüge | vol avion | vuelo avión | voo avião | volo aereo | vlucht | 航班 机票 | 航空券 便
hotel: hotel room rooms accommodation hostel airbnb night nights pension inn stay lodging | hotel zimmer unterkunft nächte | hôtel chambre hébergement nuits | hotel habitación alojamiento noches | hotel quarto alojamento noites | albergo hotel camera alloggio notti | hotel kamer verblijf nachten | 酒店 宾馆 房间 住宿 | ホテル 宿 部屋
visa: visa passport | visum pass | visa passeport | visado pasaporte | visto passaporte | visto passaporto | visum paspoort | 签证 护照 | ビザ
insurance: insurance policy cover | versicherung police | assurance | seguro póliza | seguro apólice | assicurazione polizza | verzekering polis | 保险 | 保険
car: car vehicle van truck wagon | auto wagen fahrzeug | voiture véhicule | coche vehículo carro | carro veículo | auto macchina veicolo | auto wagen voertuig | 车 汽车 | 車
luggage: suitcase luggage bag baggage backpack | koffer gepäck tasche | valise bagage sac | maleta equipaje | mala bagagem | valigia bagaglio | koffer bagage tas | 行李 箱子 | 荷物 スーツケース
box: box boxes carton crate package | kiste kisten karton kartons | carton cartons boîte | caja cajas | caixa caixas | scatola scatole | doos dozen | 箱 箱子 | 箱 段ボール
key: key keys | schlüssel | clé clés clef | llave llaves | chave chaves | chiave chiavi | sleutel sleutels | 钥匙 | 鍵
flat: flat apartment house home place | wohnung haus | appartement logement maison | piso apartamento casa | apartamento casa | appartamento casa | woning huis appartement | 公寓 房子 | 家 部屋
lease: lease rental tenancy contract rent | mietvertrag miete | bail loyer | alquiler arrendamiento | arrendamento aluguel renda | affitto locazione | huur huurcontract | 租约 | 賃貸
movers: mover movers moving-company removal moving company firm | umzugsfirma umzugsunternehmen | déménageurs | mudanza | mudança | traslocatori | verhuizers verhuizer | 搬家公司 | 引越業者
address: address registration residence | adresse anschrift | adresse | dirección domicilio | endereço morada | indirizzo | adres | 地址 | 住所
room: room venue hall conference space | raum saal zimmer | salle pièce | sala salón | sala | sala stanza | zaal ruimte kamer | 会议室 房间 | 会議室 部屋
venue: venue location hall place site restaurant | ort lokal saal location | lieu salle | lugar local sitio | local lugar | location luogo sede | locatie zaal | 场地 地点 | 会場 場所
date: date day slot time thursday friday monday | termin datum | date créneau | fecha día | data dia | data giorno | datum dag | 日期 时间 | 日程 日付
meeting: meeting call appointment session conference | besprechung termin sitzung treffen | réunion rendez-vous | reunión cita | reunião | riunione appuntamento | vergadering afspraak | 会议 | 会議
invitation: invitation invitations invite invites | einladung einladungen | invitation invitations | invitación invitaciones | convite convites | invito inviti | uitnodiging uitnodigingen | 邀请函 请柬 | 招待状 案内
slides: slide slides deck presentation powerpoint keynote | folien präsentation | diapositives diapos présentation | diapositivas presentación | slides apresentação diapositivos | diapositive slide presentazione | dia's presentatie slides | 幻灯片 | スライド 資料
agenda: agenda programme program schedule | tagesordnung agenda | ordre-du-jour | agenda orden-del-día | agenda ordem | agenda ordine | agenda | 议程 | 議題
talk: talk speech lecture presentation keynote | vortrag rede | exposé discours conférence | charla discurso | palestra discurso | discorso relazione | lezing praatje | 演讲 演讲稿 | 講演 発表
lecture: lecture class lesson session | vorlesung stunde | cours leçon | clase lección | aula lição | lezione | les college | 课 讲座 | 授業 講義
exam: exam quiz test | prüfung klausur | examen | examen | exame prova | esame | examen toets | 考试 测验 | 試験
student: student students pupils class | schüler studenten | élèves étudiants | alumnos estudiantes | alunos estudantes | studenti alunni | studenten leerlingen | 学生 | 学生 生徒
book: book textbook | buch lehrbuch | livre manuel | libro | livro | libro | boek | 书 教材 | 本 教科書
food: food catering meal menu buffet dinner lunch caterer | essen catering | repas traiteur nourriture | comida catering | comida catering | cibo catering | eten catering | 餐 食物 | 食事 料理
caterer: caterer catering food menu buffet cater | caterer | traiteur | catering | catering | catering | cateraar | 餐饮 | ケータリング
guest: guest guests people visitors attendees | gäste gast | invités invité | invitados | convidados | ospiti invitati | gasten | 客人 嘉宾 | 客 ゲスト
gift: gift gifts giveaways present presents goodies pens mugs swag | geschenk geschenke | cadeau cadeaux | regalo regalos | presente presentes | regalo regali | cadeau cadeaus | 礼物 | プレゼント 景品
cake: cake dessert | kuchen torte | gâteau | tarta pastel | bolo | torta | taart | 蛋糕 | ケーキ
photographer: photographer photo photos | fotograf | photographe | fotógrafo | fotógrafo | fotografo | fotograaf | 摄影师 | 写真家
budget: budget money funds cost costs euros | budget | budget | presupuesto | orçamento | budget preventivo | budget | 预算 | 予算
price: price prices cost quote rate | preis preise | prix tarif | precio precios | preço preços | prezzo prezzi | prijs prijzen | 价格 | 価格
invoice: invoice bill | rechnung | facture | factura | fatura | fattura | factuur | 发票 账单 | 請求書
fee: fee charge cost payment | gebühr | frais | tasa tarifa | taxa | tassa | kosten leges | 费 费用 | 料金
contract: contract agreement deal terms | vertrag | contrat | contrato | contrato | contratto | contract overeenkomst | 合同 | 契約
offer: offer quote proposal bid tender estimate | angebot | offre devis | oferta presupuesto propuesta | oferta proposta orçamento | offerta preventivo preventivi | offerte | 报价 提案 | 見積 提案
customer: customer client buyer lead | kunde kundin kunden | client | cliente | cliente | cliente | klant | 客户 顾客 | 顧客 客
claim: claim statement suit lawsuit complaint | klage klageschrift | plainte demande | demanda | ação queixa | causa ricorso | eis klacht | 起诉书 诉状 | 訴状
court: court docket judge | gericht | tribunal | tribunal juzgado | tribunal | tribunale | rechtbank | 法院 | 裁判所
letter: letter mail note email | brief schreiben | lettre courrier | carta correo | carta | lettera | brief | 信 | 手紙
correspondence: correspondence mails emails letters | korrespondenz schriftverkehr | correspondance | correspondencia | correspondência | corrispondenza | correspondentie | 往来信件 | 書簡
form: form forms application paperwork | formular formulare | formulaire | formulario | formulário | modulo moduli | formulier | 表格 | 書類 用紙
document: document documents paper papers paperwork file files | dokument unterlagen papiere | document documents pièces | documento documentos | documento documentos | documento documenti | document documenten stukken | 文件 资料 材料 | 書類 資料
receipt: receipt receipts voucher | beleg belege quittung | reçu reçus justificatif | recibo recibos | recibo recibos | ricevuta ricevute | bon bonnen | 收据 | 領収書
tax: tax return elster | steuer steuererklärung | impôt déclaration | impuesto declaración | imposto declaração | tassa dichiarazione | belasting aangifte | 税 | 税 申告
return: return declaration tax | erklärung | déclaration | declaración | declaração | dichiarazione | aangifte | 申报 | 申告
policy: policy policies rules guideline | richtlinie richtlinien | politique règles | política | política | politica | beleid | 政策 制度 | 方針
handbook: handbook manual guide | handbuch | manuel guide | manual | manual | manuale | handboek | 手册 | ハンドブック
laptop: laptop computer notebook pc macbook | laptop rechner | ordinateur portable | portátil ordenador | portátil computador | portatile computer | laptop computer | 电脑 笔记本 | パソコン
desk: desk workplace workstation chair | schreibtisch arbeitsplatz | bureau poste | escritorio puesto | mesa secretária | scrivania | bureau werkplek | 办公桌 | 机 デスク
team: team colleagues staff group everyone people crew | team kollegen | équipe collègues | equipo compañeros colegas | equipa equipe colegas | squadra colleghi team | team collega's | 团队 同事 | チーム 同僚
editor: editor publisher editorial | redaktion redakteur | éditeur rédaction | editor | editor | editore redazione | redacteur redactie | 编辑 | 編集者
printer: printer print-shop print | druckerei drucker | imprimeur imprimante | imprenta impresora | gráfica impressora | tipografia stampante | drukker drukkerij | 打印机 印刷厂 | 印刷所
tile: tile tiles | fliese fliesen | carreau carreaux carrelage | azulejo azulejos | azulejo azulejos | piastrella piastrelle | tegel tegels | 瓷砖 | タイル
wall: wall walls | wand wände | mur murs | pared paredes | parede paredes | muro pareti | muur muren | 墙 | 壁
roof: roof roofing | dach | toit toiture | techo tejado | telhado | tetto | dak | 屋顶 | 屋根
foundation: foundation slab concrete base footing | fundament | fondation | cimiento cimientos | fundação | fondamenta | fundering | 地基 | 基礎
pipe: pipe pipes plumbing | rohr rohre leitung | tuyau tuyaux | tubería tubo | cano tubo | tubo tubi | leiding buis | 管 管道 | 配管 管
basin: basin sink washbasin | waschbecken | lavabo évier | lavabo fregadero | lavatório pia | lavandino | wastafel | 洗手盆 | 洗面台
floor: floor flooring ground | boden | sol plancher | suelo piso | chão piso | pavimento | vloer | 地板 地面 | 床
model: model baseline classifier network regression | modell | modèle | modelo | modelo | modello | model | 模型 | モデル
hyperparameters: hyperparameters hyperparameter parameters trial trials optuna depth lr | hyperparameter | hyperparamètres | hiperparámetros | hiperparâmetros | iperparametri | | 超参数 | ハイパーパラメータ
sample: sample samples specimen tube vial | probe proben | échantillon | muestra muestras | amostra amostras | campione campioni | monster monsters | 样品 样本 | サンプル 試料
dna: dna rna | dns | adn | adn | adn | dna | dna | |
cells: cell cells culture hek293 hela | zellen | cellules | células | células | cellule | cellen | 细胞 | 細胞
medium: medium media | medium | milieu | medio | meio | terreno | medium | 培养基 | 培地
booth: booth stand stall | stand messestand | stand | stand caseta | estande | stand | stand | 展位 | ブース
banner: banner poster sign | banner | bannière | pancarta cartel | faixa cartaz | striscione | spandoek | 横幅 | バナー
material: material materials goods stuff pallet | material | matériel | material | material | materiale | materiaal | 材料 物资 | 資材 材料
"""

# What a verb says was done before it: what has arrived was ordered.
_RESULT_VERBS = """
arrive come came receive deliver got: obtain buy book hire ask apply-for send import download
found find: check inspect review audit research recruit choose compare deduplicate hire
sign signed: approve agree negotiate obtain hire book
confirm confirmed accept accepted: book invite ask approve obtain negotiate schedule hire rent
sent send: ask apply-for invite notify submit request
remove removed: clean deduplicate check
"""

# What the state of a thing says was done to it: "the MR is up", "the suite is green".
_RESULTS = """
happy: review approve check verify design
take do go for: choose decide
have tenemos haben avons hebben abbiamo temos: obtain choose find book buy hire recruit
order: buy book
heart: study read rehearse
at: travel visit transport move
stable great: check verify monitor
up oben: open deploy start publish setup install launch restart run construct
live online public ar línea ligne: deploy publish release launch setup switch
out raus draußen deur parti partie parties partis: send release publish notify invite remove
in drin binnen: submit merge install add implement send commit write
off weg: remove stop disable send
on: install enable cover start
green grün vert verde groen passes pass passing compiles builds: test run check build verify validate
fine ok right good correct clean lgtm correcto correcta correctas correto corretta corretto fehlerfrei foutloos no zero 0 errors errores erros erreur erreurs fehler fouten problems issues warnings findings complaints objections: check verify test review compare inspect run validate proofread evaluate restart deploy
match matches agree agrees tally tallies stimmt stimmen passt klopt kloppen coincide coinciden coincidem coincidono bate batem correspond correspondent differences diff: compare verify check count
clear known klar clair claro chiaro duidelijk: clarify find research agree decide choose analyse
ours: buy rent book obtain
there here home back exists exist da là er: obtain buy create implement write setup deliver
stands stand steht stehen debout: construct write draft setup
gone empty: remove clean clear empty sell
suits fits suit vince: choose find schedule agree decide compare
yes go-ahead agreed permission: approve agree ask book invite hire recruit obtain =approval
reachable available responds answers returns running erreichbar: deploy setup start restart implement run
landed arrives angekommen arrivé arrivée arrivés llegado llegó llegaron chegou chegaram arrivato arrivata arrivati arrivate: merge obtain deliver buy
offen open abierto abierta aberto aberta aperto aperta ouvert ouverte: open create
does trick did: fix implement find
with: choose decide
level dry sealed: level dry seal
"""


def _rows(text: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in text.strip().splitlines():
        concept, _, columns = line.partition(":")
        found.append((concept, [column.strip() for column in columns.split("|")]))
    return found


@lru_cache(maxsize=None)
def _lexicon(language: str) -> dict[str, frozenset[str]]:
    """Which concepts a word belongs to, by the word ("=suite") and by its root: "#buy" of actions, "=ticket"
    of things."""
    place = COLUMNS.index(language)
    found: dict[str, set[str]] = {}
    for sign, text in (("#", _ACTIONS), ("=", _OBJECTS)):
        for concept, columns in _rows(text):
            words = columns[place].split() if place < len(columns) else []
            if language == "en" and concept.isalpha():
                words.append(concept)
            for word in words:
                for name in (f"={plain(word)}", root(word, language)):
                    found.setdefault(name, set()).add(f"{sign}{concept}")
    return {word: frozenset(concepts) for word, concepts in found.items()}


@lru_cache(maxsize=1 << 13)
def concepts(word: str, language: str) -> frozenset[str]:
    """The concepts of a word in a language; English words are used in all of them."""
    for one in (language, "en") if language != "en" else ("en",):
        lexicon = _lexicon(one)
        known = lexicon.get(f"={plain(word)}") or lexicon.get(root(word, one))
        if known:
            return known
    return frozenset()


@lru_cache(maxsize=None)
def _results(of_verbs: bool) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for words, actions in _rows(_RESULT_VERBS if of_verbs else _RESULTS):
        for word in words.split():
            found.setdefault(root(word, "en") if of_verbs else word, set()).update(
                action if action[0] == "=" else f"#{action}" for action in actions[0].split()
            )
    return {word: frozenset(actions) for word, actions in found.items()}


def result_actions(word: str, of_verbs: bool = False) -> frozenset[str]:
    """The actions that a state of a thing ("up") or a verb ("arrived") may be the result of."""
    return _results(of_verbs).get(word, frozenset())


@lru_cache(maxsize=None)
def base_words(language: str) -> frozenset[str]:
    """The words of the thesaurus in one language, as they stand there."""
    place = COLUMNS.index(language)
    rows = [*_rows(_ACTIONS), *_rows(_OBJECTS)]
    return frozenset(word for _, columns in rows if place < len(columns) for word in columns[place].split())


@lru_cache(maxsize=None)
def unspaced_words(language: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """For Chinese and Japanese: the words of the thesaurus with their concepts, longest first."""
    place = COLUMNS.index(language)
    found: dict[str, set[str]] = {}
    for sign, text in (("#", _ACTIONS), ("=", _OBJECTS)):
        for concept, columns in _rows(text):
            for word in columns[place].split() if place < len(columns) else ():
                found.setdefault(word, set()).add(f"{sign}{concept}")
    return tuple((word, frozenset(found[word])) for word in sorted(found, key=len, reverse=True))
