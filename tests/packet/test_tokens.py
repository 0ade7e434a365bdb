"""Counting tokens: the estimate is not short of the exact count, and what is cut fits its budget."""

# ruff: noqa: E501 (sample texts; wide characters count twice)
from __future__ import annotations

import base64
import random
import string
import subprocess
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.packet import tokens

PROSE = {
    "english": (
        "The migration went well until the third shard, where two writers held the same lease for almost a minute. "
        "We stopped the older worker, compared both ledgers line by line, and found that nothing had been lost.\n"
        "Before the next attempt, someone should raise the timeout, write down which host owns the queue, and tell "
        "the people on call that the dashboard will be red for a while. It isn't urgent, but it shouldn't wait.\n"
    ),
    "chinese_simplified": (
        "我们昨天检查了所有的备份任务，发现第三台服务器的磁盘空间已经不足。请先删除过期的日志文件，然后重新启动同步程序。\n"
        "如果任务仍然失败，请把错误信息记录下来，并且通知负责数据库的同事。这个问题不会影响用户登录，但是可能导致报表延迟更新。\n"
        "下一步计划是把配置迁移到新的集群，完成以后再运行全部测试，确认没有遗漏任何数据，最后关闭旧的机器。\n"
        "另外，监控面板上的红色警告是正常现象，大约十分钟以后会自动消失，不需要人工处理。会议改到星期四下午三点，地点不变。\n"
        "整理文档的时候请注意版本号，旧版本的说明已经不再适用，应当移到归档目录里面，以免新来的同事误解流程。\n"
        "最后，感谢大家这个月的努力，尤其是值夜班的几位工程师，希望下个月可以早点完成，大家都能好好休息几天。\n"
    ),
    "chinese_traditional": (
        "我們昨天檢查了所有的備份工作，發現第三台伺服器的磁碟空間已經不足。請先刪除過期的紀錄檔，然後重新啟動同步程式。\n"
        "如果工作仍然失敗，請把錯誤訊息記錄下來，並且通知負責資料庫的同事。這個問題不會影響使用者登入，但是可能導致報表延遲更新。\n"
        "下一步計畫是把設定移轉到新的叢集，完成以後再執行全部測試，確認沒有遺漏任何資料，最後關閉舊的機器。\n"
        "另外，監控面板上的紅色警告是正常現象，大約十分鐘以後會自動消失，不需要人工處理。會議改到星期四下午三點，地點不變。\n"
        "整理文件的時候請注意版本號碼，舊版本的說明已經不再適用，應當移到封存目錄裡面，以免新來的同事誤解流程。\n"
        "最後，感謝大家這個月的努力，尤其是值夜班的幾位工程師，希望下個月可以早點完成，大家都能好好休息幾天。\n"
    ),
    "japanese": (
        "昨日の夜、三台目のサーバーで同期の処理が止まりました。古いログを消してから、もう一度プログラムを起動してください。\n"
        "それでも失敗する場合は、エラーの内容を記録して、データベースの担当者に連絡します。利用者のログインには影響がありません。\n"
        "次の作業は、設定を新しい環境に移して、すべてのテストを実行することです。終わったら古い機械の電源を切ります。\n"
        "画面に赤い警告が出ることがありますが、十分ほどで消えるので、そのままにしておいて大丈夫です。会議は木曜日の午後に変わりました。\n"
        "書類を整理するときは、版の番号に注意してください。古い説明はもう使わないので、別のフォルダーに移しておきましょう。\n"
        "最後に、今月も皆さんのおかげで無事に終わりそうです。特に夜間の当番をしてくれた方々に感謝します。ゆっくり休んでください。\n"
    ),
    "korean": (
        "어제 밤에 세 번째 서버에서 동기화 작업이 멈췄습니다. 오래된 로그 파일을 먼저 지우고 프로그램을 다시 시작해 주세요.\n"
        "그래도 실패하면 오류 내용을 적어 두고 데이터베이스 담당자에게 알려 주시기 바랍니다. 사용자 로그인에는 영향이 없습니다.\n"
        "다음 단계는 설정을 새 환경으로 옮기고 모든 시험을 실행하는 것입니다. 끝나면 낡은 장비의 전원을 끄면 됩니다.\n"
        "화면에 빨간 경고가 나타날 수 있지만 십 분쯤 지나면 사라지니 그대로 두어도 괜찮습니다. 회의는 목요일 오후로 바뀌었습니다.\n"
        "문서를 정리할 때는 버전 번호를 꼭 확인하세요. 예전 설명은 더 이상 쓰지 않으므로 보관 폴더로 옮겨 두는 편이 좋습니다.\n"
    ),
    "thai": (
        "เมื่อคืนนี้งานสำรองข้อมูลบนเครื่องที่สามหยุดทำงาน กรุณาลบไฟล์บันทึกเก่าก่อน แล้วจึงเริ่มโปรแกรมใหม่อีกครั้ง\n"
        "ถ้ายังไม่สำเร็จ ให้จดข้อความผิดพลาดไว้และแจ้งผู้ดูแลฐานข้อมูล ปัญหานี้ไม่กระทบการเข้าสู่ระบบของผู้ใช้\n"
        "ขั้นตอนต่อไปคือย้ายการตั้งค่าไปยังระบบใหม่ แล้วทดสอบทั้งหมดให้เรียบร้อยก่อนปิดเครื่องเดิม\n"
    ),
    "hindi": (
        "कल रात तीसरे सर्वर पर बैकअप का काम रुक गया था। पहले पुरानी लॉग फ़ाइलें हटाइए और फिर प्रोग्राम दोबारा चलाइए।\n"
        "अगर फिर भी काम न हो तो त्रुटि का संदेश लिख लीजिए और डेटाबेस देखने वाले साथी को बताइए। इससे उपयोगकर्ता पर असर नहीं पड़ेगा।\n"
        "अगला कदम यह है कि सारी सेटिंग नए सिस्टम में ले जाएँ, सभी परीक्षण पूरे करें और उसके बाद पुरानी मशीन बंद कर दें।\n"
    ),
    "arabic": (
        "توقفت مهمة النسخ الاحتياطي على الخادم الثالث ليلة أمس. احذف ملفات السجل القديمة أولاً ثم أعد تشغيل البرنامج من جديد.\n"
        "إذا فشلت العملية مرة أخرى فاكتب رسالة الخطأ وأخبر المسؤول عن قاعدة البيانات. هذه المشكلة لا تؤثر في دخول المستخدمين.\n"
        "الخطوة التالية هي نقل الإعدادات إلى النظام الجديد، ثم تنفيذ جميع الاختبارات قبل إيقاف الجهاز القديم نهائياً.\n"
    ),
    "hebrew": (
        "אמש נעצרה משימת הגיבוי בשרת השלישי. יש למחוק תחילה את קובצי היומן הישנים ולאחר מכן להפעיל את התוכנה מחדש.\n"
        "אם הפעולה נכשלת שוב, רשמו את הודעת השגיאה והודיעו לאחראי על מסד הנתונים. התקלה אינה משפיעה על כניסת המשתמשים.\n"
        "השלב הבא הוא להעביר את ההגדרות למערכת החדשה, להריץ את כל הבדיקות ורק אז לכבות את המחשב הישן.\n"
    ),
    "russian": (
        "Вчера ночью на третьем сервере остановилась задача резервного копирования. Сначала удалите старые журналы, "
        "потом запустите программу ещё раз.\nЕсли ошибка повторится, запишите сообщение и предупредите администратора "
        "базы данных. На вход пользователей это не влияет.\nСледующий шаг: перенести настройки в новую систему, "
        "выполнить все проверки и только после этого выключить старый компьютер.\n"
    ),
    "greek": (
        "Χθες το βράδυ σταμάτησε η εργασία αντιγράφων στον τρίτο διακομιστή. Διαγράψτε πρώτα τα παλιά αρχεία καταγραφής "
        "και ξεκινήστε πάλι το πρόγραμμα.\nΑν αποτύχει ξανά, σημειώστε το μήνυμα και ενημερώστε τον υπεύθυνο της βάσης "
        "δεδομένων. Οι χρήστες δεν επηρεάζονται.\nΤο επόμενο βήμα είναι να μεταφερθούν οι ρυθμίσεις στο νέο σύστημα.\n"
    ),
    "german": (
        "Gestern Nacht blieb die Datensicherung auf dem dritten Server stehen. Löschen Sie zuerst die alten "
        "Protokolldateien und starten Sie das Programm anschließend neu.\nSchlägt es wieder fehl, notieren Sie die "
        "Fehlermeldung und benachrichtigen Sie die Datenbankverwaltung; die Benutzeranmeldung ist nicht betroffen.\n"
        "Danach werden die Einstellungen übertragen, sämtliche Prüfungen ausgeführt und die Altgeräte abgeschaltet.\n"
    ),
    "french": (
        "Hier soir, la sauvegarde s'est arrêtée sur le troisième serveur. Supprimez d'abord les vieux journaux, puis "
        "relancez le programme.\nSi l'opération échoue encore, notez le message d'erreur et prévenez la personne chargée "
        "de la base de données ; les utilisateurs ne sont pas touchés.\nL'étape suivante consiste à déplacer les "
        "réglages vers le nouveau système et à exécuter tous les essais avant d'éteindre l'ancienne machine.\n"
    ),
    "polish": (
        "Wczoraj w nocy na trzecim serwerze zatrzymało się tworzenie kopii zapasowej. Najpierw usuń stare dzienniki, "
        "a potem uruchom program jeszcze raz.\nJeśli błąd się powtórzy, zapisz komunikat i powiadom osobę odpowiedzialną "
        "za bazę danych; użytkownicy mogą się normalnie logować.\nNastępny krok to przeniesienie ustawień do nowego "
        "systemu i wykonanie wszystkich testów przed wyłączeniem starego komputera.\n"
    ),
    "finnish": (
        "Viime yönä varmuuskopiointi pysähtyi kolmannella palvelimella. Poista ensin vanhat lokitiedostot ja käynnistä "
        "ohjelma sitten uudelleen.\nJos virhe toistuu, kirjoita ilmoitus muistiin ja kerro asiasta tietokannan "
        "ylläpitäjälle; käyttäjien kirjautumiseen häiriö ei vaikuta.\nSeuraavaksi asetukset siirretään uuteen "
        "järjestelmään, kaikki testit ajetaan läpi ja vanhat laitteet sammutetaan lopullisesti.\n"
    ),
    "turkish": (
        "Dün gece üçüncü sunucuda yedekleme işi durdu. Önce eski günlük dosyalarını silin, ardından programı yeniden "
        "başlatın.\nHata tekrarlanırsa iletiyi not edin ve veritabanından sorumlu kişiye haber verin; kullanıcıların "
        "girişi bundan etkilenmiyor.\nSonraki adımda ayarlar yeni sisteme taşınacak, bütün denemeler çalıştırılacak ve "
        "eski bilgisayar kapatılacak.\n"
    ),
    "vietnamese": (
        "Đêm qua, việc sao lưu trên máy chủ thứ ba đã dừng lại. Trước hết hãy xóa các tệp nhật ký cũ, sau đó khởi động "
        "lại chương trình.\nNếu vẫn thất bại, hãy ghi lại thông báo lỗi và báo cho người phụ trách cơ sở dữ liệu; việc "
        "đăng nhập của người dùng không bị ảnh hưởng.\nBước tiếp theo là chuyển các thiết lập sang hệ thống mới.\n"
    ),
}

CODE = {
    "python": (
        "def retry(task, attempts=3, delay=0.5):\n"
        '    """Run a task until it succeeds or the attempts are used up."""\n'
        "    for attempt in range(1, attempts + 1):\n        try:\n"
        "            return task.run(timeout=delay * attempt)\n"
        "        except (TimeoutError, ConnectionError) as error:\n"
        '            logger.warning("attempt %d of %d failed: %s", attempt, attempts, error)\n'
        "            if attempt == attempts:\n                raise\n"
        "            time.sleep(min(delay * 2 ** attempt, MAX_DELAY))\n"
    ),
    "javascript": (
        "export async function loadTasks(url, { signal, limit = 50 } = {}) {\n"
        "  const response = await fetch(`${url}/tasks?limit=${limit}`, { signal });\n"
        "  if (!response.ok) throw new Error(`HTTP ${response.status}`);\n"
        "  const items = (await response.json()).filter((item) => item.state !== 'done');\n"
        "  return items.map(({ id, title, dueAt }) => ({ id, title, due: dueAt ? new Date(dueAt) : null }));\n"
        "}\ndocument.querySelector('#reload')?.addEventListener('click', () => loadTasks('/api/v1'));\n"
    ),
    "json": (
        '{"task": {"id": "t-0192", "title": "Move the settings", "status": "active", "tags": ["ops", "db"],\n'
        ' "steps": [{"n": 1, "text": "stop the old worker", "done": true}, {"n": 2, "text": "copy the ledger",\n'
        ' "done": false, "retries": 3}], "created_at": "2026-03-14T09:26:53Z", "owner": null, "cost": 12.75}}\n'
        '{"task": {"id": "t-0193", "title": "Check the report", "status": "waiting", "tags": [], "steps": []}}\n'
    ),
    "markdown": (
        "## Plan: move the ledger\n\n- [x] Read the current configuration and write down what differs\n"
        "- [x] Stop the worker on `db-3` (see [runbook](docs/runbook.md#stop))\n"
        "- [ ] Copy the files, then compare checksums\n"
        "  - [ ] `rsync -a --delete /srv/ledger/ backup:/srv/ledger/`\n"
        "- [ ] **Do not** delete the old host before Friday\n\n"
        "| step | state | owner |\n|------|-------|-------|\n| copy | waiting | Ana |\n| check | open | Li |\n"
    ),
    "paths": (
        "/usr/local/lib/python3.11/site-packages/example/store/engine.py:214\n"
        "https://git.example.org/team/ledger/-/merge_requests/482?tab=changes#note_99120\n"
        "C:\\Users\\ana\\AppData\\Local\\Temp\\build-7f3a\\out.log\n"
        "../../src/holder/views/__init__.py  ~/.config/holder/settings.toml  s3://backup-eu-west-1/2026/03/14/\n"
        "requests==2.32.3  node@v22.11.0  ghcr.io/example/worker:1.4.0-rc.2  libc6_2.39-0ubuntu8.3_amd64.deb\n"
    ),
    "identifiers": (
        "getUserName parse_http_request XMLHttpRequest MAX_RETRY_COUNT TaskLedgerView is_waiting_for_input kDefaultPort\n"
        "handleOnClick HTTPServerError load_settings_from_env toISOString _private_cache __init__ iterRows2 utf8Decode\n"
        "BackgroundWorkerPool set_item_status createdAt updated_at NSURLSession vecPushBack std::unordered_map\n"
    ),
    "capitals": (
        "WARNING: THE BACKUP OF THE THIRD SERVER HAS STOPPED. DELETE THE OLD LOG FILES AND START THE PROGRAM AGAIN.\n"
        "IF IT FAILS A SECOND TIME, WRITE DOWN THE MESSAGE AND CALL THE PERSON IN CHARGE OF THE DATABASE.\n"
        "DO NOT TURN OFF THE MACHINE BEFORE ALL CHECKS HAVE PASSED. THIS NOTICE IS VALID UNTIL FRIDAY EVENING.\n"
    ),
    "emoji": "🎉 released 🚀\n✅ tests passed\n❌ build failed 🔥🔥\n⚠️ retry later 🤔\n👍🏽 thanks 🙏😊\n"
    * 8,
    "boxes": (
        "┌──────────┬───────┐\n│ step     │ state │\n├──────────┼───────┤\n│ copy     │ ✓     │\n│ compare  │ ✗     │\n"
        "└──────────┴───────┘\nsrc\n├── store\n│   ├── engine.py\n│   └── rows.py\n└── views ➜ ● ○ ★ ■ → ⇒\n"
    )
    * 3,
}

dice = random.Random(20260314)


def _hex(size: int) -> str:
    return dice.randbytes(size).hex()


def _repeat(make, times: int) -> str:
    return "".join(make() + "\n" for _ in range(times))


def _log_line() -> str:
    return (
        f"2026-03-{dice.randint(10, 28)}T{dice.randint(10, 23)}:{dice.randint(10, 59)}:07.{dice.randint(100, 999)}Z "
        f"{dice.choice(['INFO', 'WARN', 'ERROR'])} [worker-{dice.randint(1, 9)}] request={_hex(8)} "
        f"GET /api/v1/tasks/{_hex(6)} status={dice.choice([200, 404, 503])} took={dice.randint(1, 999)}ms ip=10.0.3.{dice.randint(1, 254)}"
    )


def _characters(low: int, high: int, size: int) -> str:
    found = (chr(dice.randrange(low, high)) for _ in range(size))
    return "".join(char for char in found if not "\ud800" <= char <= "\udfff")


def _word(alphabet: str) -> str:
    return "".join(dice.choices(alphabet, k=dice.randint(1, 12)))


MADE = {
    "logs": _repeat(_log_line, 20),
    "base64": _repeat(lambda: base64.b64encode(dice.randbytes(57)).decode(), 20),
    "hex": _repeat(lambda: _hex(32), 20),
    "uuids": _repeat(lambda: str(uuid.UUID(int=dice.getrandbits(128))), 20),
    "digits": _repeat(lambda: str(dice.getrandbits(200)), 20),
    "random_letters": _repeat(lambda: "".join(dice.choices(string.ascii_lowercase, k=80)), 20),
    "random_words": _repeat(lambda: " ".join(_word(string.ascii_lowercase) for _ in range(12)), 30),
    "random_capitals": _repeat(lambda: " ".join(_word(string.ascii_uppercase) for _ in range(12)), 20),
    "random_letters_and_digits": _repeat(
        lambda: "".join(dice.choices(string.ascii_letters + string.digits, k=80)), 20
    ),
    "random_punctuation": _repeat(lambda: "".join(dice.choices(string.punctuation, k=80)), 20),
    "random_unicode": _repeat(lambda: _characters(0x20, 0x110000, 80), 20),
    "random_plane_0": _repeat(lambda: _characters(0xA0, 0x10000, 80), 20),
    "random_ideographs": _repeat(lambda: _characters(0x4E00, 0xA000, 80), 20),
    "random_emoji": _repeat(lambda: _characters(0x1F300, 0x1F650, 40), 20),
    "random_dingbats": _repeat(lambda: _characters(0x2190, 0x27C0, 60), 20),
    "spaces": _repeat(lambda: "x" + " " * dice.randint(1, 200) + "y", 20),
    "rules": _repeat(lambda: dice.choice("=-*#_~.") * dice.randint(3, 120), 40),
}

# How much too high the estimate of a whole sample may be. Rules and spaces are cheap however they are counted.
MOST = dict.fromkeys(
    ["english", "python", "json", "markdown", "logs", "base64", "hex", "uuids", "digits"], 1.2
)
MOST |= {"arabic": 1.6, "russian": 1.8, "thai": 1.55, "spaces": 2.5, "rules": 4.0}
SAMPLES = PROSE | CODE | MADE


@pytest.fixture(scope="module")
def exact():
    pytest.importorskip("splintr")
    found = tokens.exact()
    assert found is not None
    return found


def test_the_estimate_of_a_text_is_not_short_and_not_far_off(exact):
    for kind, text in SAMPLES.items():
        assert len(text) >= 300
        assert exact(text) <= tokens.estimate(text) <= exact(text) * MOST.get(kind, 1.45), kind


def test_the_estimates_of_lines_add_up_to_enough(exact):
    for kind, text in SAMPLES.items():
        assert sum(map(tokens.estimate, text.splitlines(keepends=True))) >= exact(text), kind


def test_the_estimate_of_a_line_is_not_short(exact):
    for kind in (*PROSE, *CODE, "logs", "base64", "hex", "uuids", "digits"):
        lines = [line for line in SAMPLES[kind].splitlines(keepends=True) if len(line) > 20]
        assert [line for line in lines if tokens.estimate(line) < exact(line)] == [], kind


def test_a_path_after_punctuation_is_in_the_estimate(exact):
    lines = ["Look here!\n", "/usr/share\n", "# these\n", "and (#)\n", "/a\n"]
    assert exact("".join(lines)) > sum(map(exact, lines))  # why the exact counts of lines need one more each
    assert exact("".join(lines)) <= sum(map(exact, lines)) + sum(line.startswith("/") for line in lines)
    assert exact("".join(lines)) <= sum(map(tokens.estimate, lines))


def test_exact_counts_of_lines_add_up_but_for_slashes(exact):
    for text in SAMPLES.values():
        lines = text.split("\n")
        spare = sum(line.startswith("/") for line in lines)
        assert exact("\n".join(lines)) <= sum(exact(line + "\n") for line in lines) + spare


@pytest.mark.parametrize("special", ["<|im_start|>", "<|endoftext|>", "<|system|>", "<|/think|>"])
def test_special_tokens_count_as_text(special, exact):
    assert exact(special) >= 4
    assert exact(f"a {special} b") > exact("a  b") + 3


def test_exact_counts_are_those_of_o200k(exact):
    assert [exact(text) for text in ("", "hello world", "Hello, world!\n", "1234567", " " * 128)] == [
        0,
        2,
        4,
        3,
        1,
    ]


def test_the_counter_is_the_one_asked_for(exact):
    assert tokens.counter(True) is exact
    assert tokens.counter(False) is tokens.estimate_packet


def test_without_splintr_the_estimate_takes_over():
    program = (
        "import sys; sys.modules['splintr'] = None\nfrom ringbolt.packet import tokens\n"
        "assert tokens.exact() is None\nassert tokens.counter(True) is tokens.estimate_packet\n"
        "assert tokens.counter(True)('some words') >= 2\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_does_not_load_splintr():
    program = "import sys; from ringbolt.packet import tokens; assert 'splintr' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_nothing_costs_nothing():
    assert tokens.estimate("") == 0


@given(st.text())
def test_the_estimate_takes_any_text(text):
    assert tokens.estimate(text) == tokens.estimate(text)
    assert (tokens.estimate(text) > 0) == bool(text)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=5))
def test_the_estimate_of_parts_is_no_less_than_that_of_lines_together(parts):
    lines = [part.replace("\n", " ").replace("\r", " ") + "\n" for part in parts]
    assert sum(map(tokens.estimate, lines)) >= tokens.estimate("".join(lines)) * 0.9


def test_a_long_run_of_one_character_is_not_underestimated():
    for char in (
        *" \t\n\raA0_-/'\"(\\\x00\x1b",
        "é",
        "ß",
        "ỿ",
        "ж",
        "中",
        "한",
        "้",
        "\u200d",
        "😀",
        "\U0010ffff",
    ):
        text = char * 50_000
        assert tokens.estimate(text) >= len(text) / tokens.LONGEST, ascii(char)


@given(st.text(), st.integers(-2, 40))
def test_what_is_cut_fits_by_the_estimate(text, budget):
    _check_fit(text, budget, tokens.estimate)


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 40))
def test_what_is_cut_fits_by_the_exact_count(text, budget):
    _check_fit(text, budget, tokens.counter(True))


def _check_fit(text, budget, count):
    cut = tokens.fit(text, budget, count)
    assert cut == "" or count(cut) <= budget
    assert cut == text or cut == "" or (cut.endswith("…") and text.startswith(cut[:-1]))
    if count(text) <= budget:
        assert cut == text


def test_little_of_the_budget_is_left_over():
    for kind, text in SAMPLES.items():
        budget = tokens.estimate(text) // 2
        assert tokens.estimate(tokens.fit(text, budget, tokens.estimate)) >= budget * 0.7, kind


def test_a_cut_is_between_words():
    assert (
        tokens.fit("one two three four five six seven", 5, lambda text: len(text.split()))
        == "one two three four five…"
    )
    for budget in range(3, 40):
        cut = tokens.fit(PROSE["english"], budget, tokens.estimate)
        assert PROSE["english"][len(cut) - 1] in " \n.,"


@pytest.mark.parametrize("text", ["e\u0301" * 50, "👩\u200d💻" * 50, "👍🏽" * 50, "กี่" * 50])
def test_a_cut_is_not_inside_a_character(text):
    for size in range(1, 60):
        cut = tokens.fit(text, size, len)
        left = text[len(cut) - 1 :]
        assert not left.startswith(("\u0301", "\u200d", "💻", "🏽", "ี", "่"))


def test_a_text_far_too_long_is_not_counted_whole():
    sizes = []

    def count(text: str) -> int:
        sizes.append(len(text))
        return tokens.estimate(text)

    cut = tokens.fit("word " * 800_000, 50, count)
    assert 100 < len(cut) < 400
    assert max(sizes) <= 50 * tokens.LONGEST + 1
    assert len(sizes) < 20


def test_an_empty_budget_leaves_no_text():
    assert tokens.fit("some words", 0, tokens.estimate) == ""
    assert tokens.fit("", 0, tokens.estimate) == ""
