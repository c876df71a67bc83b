"""Kana finds Japanese words in kanji, if the operator wants that."""

import sys
from pathlib import Path

import pytest

import bowerbird
from bowerbird.cli.context import opened_library
from bowerbird.jobs.account_jobs import reindex_jobs
from bowerbird.library.upkeep.checks import Checks, Finding
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.model.words import READING
from bowerbird.search.words.readings import READINGS
from bowerbird.settings import BadSetting, Settings
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.word_counts import WordCounts
from tests.support.engines.word_counts import indexed
from tests.support.models import ignore
from tests.support.service import Member

pytestmark = pytest.mark.anyio
TOKYO = "昨日、東京の図書館で猫の本を読みました。"


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(READINGS, "are_indexed", True)


def turn(monkeypatch: pytest.MonkeyPatch, *, on: bool) -> None:
    monkeypatch.setattr(READINGS, "are_indexed", on)


async def findings(member: Member) -> list[Finding]:
    checks = Checks(member.database, fixes=False, is_deep=True)
    return await checks.account(await member.account(), lambda _: None)


@pytest.mark.both
@pytest.mark.usefixtures("readings")
async def test_kana_finds_words_in_kanji(alice: Member, tmp_path: Path) -> None:
    await alice.save(post_id="1", text=TOKYO)
    await alice.save(post_id="2", text="上海图书馆 东京也有 東京")

    for typed in ("とうきょう", "トウキョウ", "としょかん", "ねこ", "よむ", "とうきょう ねこ"):
        assert await alice.ids(q=typed) == ["1"], typed
    # Not a part of a word, not a particle, not the words of others, not exactly these words.
    for typed in ("とう", "の", "いぬ", '"とうきょう"'):
        assert await alice.ids(q=typed) == (["1"] if typed == "の" else []), typed
    assert sorted(await alice.ids(q="東京")) == ["1", "2"]
    assert await alice.ids(q="-とうきょう 図書館") == ["1"]
    assert await findings(alice) == []
    account = await alice.account()
    counts = await WordCounts(alice.database).stored(account)
    assert counts == await indexed(alice.database, account, tmp_path)


@pytest.mark.both
@pytest.mark.usefixtures("readings")
async def test_posts_with_the_typed_kana_rank_above(alice: Member) -> None:
    for number, text in enumerate(("とうきょうはいい。", TOKYO, "どこかへ行く。"), 1):
        await alice.save(post_id=str(number), text=text)

    assert await alice.ids(q="とうきょう", sort_by="relevance") == ["1", "2"]


@pytest.mark.both
@pytest.mark.usefixtures("readings")
async def test_a_word_that_posts_have_by_its_reading_alone_is_known(alice: Member) -> None:
    await alice.save(post_id="1", text="図書館へ行く")
    await alice.save(post_id="2", text="これは別のポスト")

    listed = await alice.listed(q="としょかん ふくろう", sort_by="relevance")

    assert [one["post_id"] for one in listed["data"]] == ["1"]
    assert listed["meta"]["hint"].startswith("No post has all of these words.")


@pytest.mark.usefixtures("readings")
async def test_a_post_found_by_a_reading_has_no_highlight_for_it(alice: Member) -> None:
    await alice.save(post_id="1", text=TOKYO)

    (alone,) = (await alice.listed(q="とうきょう", highlight="true"))["data"]
    (beside,) = (await alice.listed(q="とうきょう 図書館", highlight="true"))["data"]

    assert "highlight" not in alone
    assert "<mark>図書館</mark>" in beside["highlight"]["html"]


@pytest.mark.both
async def test_stored_posts_are_indexed_again_when_readings_are_turned_on(
    alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.save(post_id="1", text=TOKYO)
    await alice.save(post_id="2", text="かなだけのポスト")
    await bob.save(post_id="3", text="Tokyo is a city with many libraries.")
    assert await alice.ids(q="とうきょう") == []
    counts = WordCounts(alice.database)
    before = await counts.stored(await alice.account())
    reindexing = Reindexing(alice.database, alice.clock, pause_s=0)
    assert await reindexing.accounts_without_readings(0) == []

    turn(monkeypatch, on=True)
    assert await findings(alice) == []
    jobs = reindex_jobs(alice.database, alice.clock)
    await jobs.sweep()
    assert list(await JobStore(alice.database).counts()) == []
    await jobs.recurring[1].run()
    due = await reindexing.accounts_without_readings(0)
    await reindexing.run(alice.account_id, ignore)

    assert due == [alice.account_id]
    queued = await JobStore(alice.database).counts()
    assert [(one.kind, one.count) for one in queued] == [("reindex", 1)]
    assert await alice.ids(q="とうきょう") == ["1"]
    assert await reindexing.accounts_without_readings(0) == []
    assert await counts.stored(await alice.account()) == before
    assert await findings(alice) == []


@pytest.mark.both
async def test_posts_of_several_turns_and_of_old_processes_are_indexed_again(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 8):
        await alice.save(post_id=str(number), text=TOKYO)
    reindexing = Reindexing(alice.database, alice.clock, pause_s=0, posts_per_turn=3)
    turn(monkeypatch, on=True)
    await reindexing.run(alice.account_id, ignore)
    assert len(await alice.ids(q="とうきょう")) == 7

    # A process without readings goes on writing.
    turn(monkeypatch, on=False)
    await alice.save(post_id="8", text=TOKYO)
    turn(monkeypatch, on=True)

    assert await reindexing.accounts_without_readings(0) == [alice.account_id]
    await reindexing.run(alice.account_id, ignore)
    assert len(await alice.ids(q="とうきょう")) == 8
    assert await reindexing.accounts_without_readings(0) == []


@pytest.mark.usefixtures("readings")
async def test_another_dictionary_is_no_damage(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.save(post_id="1", text=TOKYO)
    monkeypatch.setattr(READINGS, "tokens_of", lambda *_: [READING + "ほか"])

    assert await findings(alice) == []


@pytest.mark.both
async def test_nothing_breaks_when_readings_are_turned_off_again(
    alice: Member, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    turn(monkeypatch, on=True)
    post = await alice.save(post_id="1", text=TOKYO)
    await alice.save(post_id="2", text=TOKYO)
    turn(monkeypatch, on=False)

    assert await findings(alice) == []
    await alice.change(post, tweet_details={**post["tweet_details"], "text": "京都の寺へ行った"})

    # Posts that do not change keep the readings that they have.
    assert await alice.ids(q="とうきょう") == ["2"]
    assert await alice.ids(q="きょうと") == []
    assert await findings(alice) == []
    account = await alice.account()
    counts = await WordCounts(alice.database).stored(account)
    assert counts == await indexed(alice.database, account, tmp_path)
    turn(monkeypatch, on=True)
    await Reindexing(alice.database, alice.clock, pause_s=0).run(alice.account_id, ignore)
    assert await alice.ids(q="きょうと") == ["1"]


@pytest.mark.parametrize("package", ["sudachipy", "sudachidict_small"])
def test_the_setting_needs_the_packages(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Settings(japanese_readings="on").check()
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(BadSetting, match=rf"{package} is missing.*bowerbird\[japanese\]"):
        Settings(japanese_readings="on").check()


@pytest.mark.parametrize("value", ["on", "off"])
async def test_commands_index_readings_as_the_setting_says(
    value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(READINGS, "are_indexed", value == "off")

    async with opened_library(Settings(data_dir=tmp_path, japanese_readings=value)):
        assert READINGS.are_indexed is (value == "on")


def test_every_module_that_opens_the_library_heeds_the_setting() -> None:
    sources = [path.read_text() for path in Path(bowerbird.__file__).parent.rglob("*.py")]
    openers = [source for source in sources if "import open_database" in source]

    assert openers
    assert all("READINGS.are_indexed = " in source for source in openers)
