"""The query language: how it is parsed, and the expressions for both engines."""

from collections.abc import Iterator

import apsw
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model import instants
from bowerbird.model.words import (
    OTHER_FORM,
    Condition,
    Either,
    Field,
    Form,
    Match,
    Part,
    Term,
    WordQuery,
    with_terms,
)
from bowerbird.search.queries.query_language import (
    MAX_DEPTH,
    MAX_HINTS,
    MAX_TERMS,
    QUOTES_IN_A_SENTENCE,
    joined,
    moves,
    parse,
    plain_text,
    with_fixed_dates,
)
from bowerbird.search.queries.query_pieces import MAX_PIECES
from bowerbird.storage.queries import for_fts5, for_tsquery


def parsed(text: str) -> WordQuery:
    """A query without other forms of its words, which other tests check."""
    query = parse(text)
    parts = with_terms(query.parts, lambda term: msgspec.structs.replace(term, forms=()))
    return WordQuery(parts, query.hints)


def linked(domain: str, *, is_excluded: bool = False) -> Term:
    tokens = tuple(domain.lower().split("."))
    term = Term(tokens, is_excluded=is_excluded, is_quoted=True, is_field=True)
    return msgspec.structs.replace(term, address=domain)


def quoted(*tokens: str, address: str = "") -> Term:
    return Term(tokens, is_quoted=True, address=address)


def dated(field: Field, date: str) -> Condition:
    instant = instants.parse(date)
    return Condition(field, str(instant), instant=instant)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Fast cats", [Term(("fast",)), Term(("cats",))]),
        ('"Fast cats" run', [quoted("fast", "cats"), Term(("run",))]),
        ("\u201cFast cats\u201d", [quoted("fast", "cats")]),
        ("-dog !cow", [Term(("dog",), is_excluded=True), Term(("cow",), is_excluded=True)]),
        ('-"big dog"', [Term(("big", "dog"), is_excluded=True, is_quoted=True)]),
        ("ca*", [Term(("ca",), is_prefix=True)]),
        ("c*", [Term(("c",))]),
        ("-ca*", [Term(("ca",), is_prefix=True, is_excluded=True)]),
        ("foo-bar*", [Term(("foo", "bar"), is_prefix=True)]),
        ("don't", [Term(("dont",))]),
        ("https://a.b/c?d=1", [quoted("a", "b", "c", "d", "1", address="https://a.b/c?d=1")]),
        ("#Python", [Term(("#python",))]),
        ("(@Ada_L),", [Term(("@ada_l",))]),
        ("#py*", [Term(("#py",), is_prefix=True)]),
        ("#p*", [Term(("#p",))]),
        ('"#python"', [quoted("python")]),
        ("#東京タワー", [Term(("#東京タワー",))]),
        ("東京", [Term(("東京",))]),
        ("東京*", [Term(("東京",))]),
        ("東京都", [Term(("東京", "京都"))]),
        ("東", [Term(("東",), is_prefix=True)]),
        ("2024年", [Term(("2024", "年"), is_prefix=True)]),
        ("🎉", [Term(("🎉",))]),
        ("cat Cat CAT", [Term(("cat",))]),
        ('5" disk', [Term(("5",)), Term(("disk",))]),
        ('"never closed', [quoted("never", "closed")]),
        ("a - b", [Term(("b",))]),
        ("--a", [Term(("a",))]),
        ("salt AND pepper", [Term(("salt",)), Term(("pepper",))]),
        ("AND NEAR", [Term(("near",))]),
        ("and or", [Term(("and",)), Term(("or",))]),
        ("OR", [Term(("or",))]),
        ("f(x) :)", [Term(("f", "x"))]),
    ],
)
def test_parses_a_query(text: str, terms: list[Term]) -> None:
    assert parsed(text) == WordQuery(tuple(terms))


@pytest.mark.parametrize(
    "text", ["", "   ", '"', '""', "-", "!!!", "*", '-"" ?', "#", "@ #", "\x00"]
)
def test_a_query_of_punctuation_has_no_terms(text: str) -> None:
    assert parse(text).is_empty
    assert for_fts5(parse(text)) == for_tsquery(parse(text)) == Match(None, None)


def test_uses_only_the_first_terms_and_says_so() -> None:
    query = parse(" ".join(f"? w{number}" for number in range(100)))
    assert [term.tokens for term in query.wanted_terms] == [(f"w{number}",) for number in range(32)]
    assert query.hints == ("Only the first 32 words and fields count.",)


def test_uses_only_the_first_words_of_a_long_phrase() -> None:
    (term,) = parsed("-".join(["word"] * 1000) + "*").wanted_terms

    assert term == Term(("word",) * 64)


def test_a_phrase_with_a_name_such_as_c_plus_plus_needs_the_name() -> None:
    name, phrase = quoted(f"{OTHER_FORM}cplusplus"), quoted("c", "lang")

    assert parsed('"c++ lang" fast').parts == (phrase, name, Term(("fast",)))
    assert parsed('-"c++ lang"').parts == (Either(((phrase, name),), is_excluded=True),)
    assert parsed('"c++ lang" OR rust').parts == (Either(((phrase, name), (Term(("rust",)),))),)
    assert parsed('"c++"').parts == (name,)


def test_writes_the_expressions_of_both_engines() -> None:
    query = parsed('cat "big dog" ru* -cow -"old owl"')
    assert query == parsed('CAT  "Big dog" RU* !cow -"old owl"')
    assert for_fts5(query) == Match(
        wanted='"cat" AND "big" + "dog" AND "ru" *',
        unwanted='"cow" OR "old" + "owl"',
    )
    assert for_tsquery(query) == Match(
        wanted="'cat' & 'big' <-> 'dog' & 'ru':*",
        unwanted="'cow' | 'old' <-> 'owl'",
    )
    assert for_fts5(parsed("-cow")) == Match(wanted=None, unwanted='"cow"')


def require_valid(fts5: apsw.Connection, text: str) -> None:
    match = for_fts5(parse(text))
    for expression in (match.wanted or '"x"', match.unwanted or '"x"'):
        assert fts5.execute(
            "SELECT count(*) FROM post WHERE post MATCH ?", (expression,)
        ).fetchone()


@given(st.text() | st.text(st.sampled_from("""ab"-!*#@ \x00\\'東\u201c"""), max_size=200))
def test_every_query_is_valid(fts5: apsw.Connection, text: str) -> None:
    require_valid(fts5, text)


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 10_000, '"' * 10_000, "a-" * 5_000, "東" * 10_000, "🎉" * 10_000),
        *("(" * 4_000, "-(" * 2_000, "(a OR " * 600, "(a -(b OR " * 300, ") OR (" * 600),
    ],
)
def test_a_long_query_and_hostile_nesting_are_valid(fts5: apsw.Connection, text: str) -> None:
    require_valid(fts5, text)


AUTHOR = Condition(Field.AUTHOR, "ada")
BIRDS = Condition(Field.LABEL, "#birds")
HASHTAG = Either(((BIRDS,), (Term(("#birds",), is_quoted=True, is_field=True),)))
CAT, DOG, COW = Term(("cat",)), Term(("dog",)), Term(("cow",))
NOT_COW = Term(("cow",), is_excluded=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cat OR dog", [Either(((CAT,), (DOG,)))]),
        ("cat OR dog cow", [Either(((CAT,), (DOG,))), COW]),
        ("cat dog OR cow", [CAT, Either(((DOG,), (COW,)))]),
        ("cat OR dog OR cow", [Either(((CAT,), (DOG,), (COW,)))]),
        ("cat OR (dog cow)", [Either(((CAT,), (DOG, COW)))]),
        ("(cat dog) OR -cow", [Either(((CAT, DOG), (NOT_COW,)))]),
        ("cat OR (dog OR cow)", [Either(((CAT,), (DOG,), (COW,)))]),
        ("(cat OR dog) OR cow", [Either(((CAT,), (DOG,), (COW,)))]),
        ("(cat dog)", [CAT, DOG]),
        ("(cat (dog", [CAT, DOG]),
        ("cat) dog)", [CAT, DOG]),
        ("() cat ( )", [CAT]),
        ("cat OR cat", [CAT]),
        ("cat OR ?! dog", [Either(((CAT,), (DOG,)))]),
        ("-(cow)", [NOT_COW]),
        ("-(cat OR dog)", [Either(((CAT,), (DOG,)), is_excluded=True)]),
        ("-(cat dog)", [Either(((CAT, DOG),), is_excluded=True)]),
        ("!(cat -cow)", [Either(((CAT, NOT_COW),), is_excluded=True)]),
        ("cat | dog || cow", [Either(((CAT,), (DOG,), (COW,)))]),
        ("cat && dog", [CAT, DOG]),
        ("cat NOT cow", [CAT, NOT_COW]),
        ("cat AND NOT  cow", [CAT, NOT_COW]),
        ("cat NOT (cat OR dog)", [CAT, Either(((CAT,), (DOG,)), is_excluded=True)]),
        ("cat NOT from:ada", [CAT, Condition(Field.AUTHOR, "ada", is_excluded=True)]),
        ("*cat*", [Term(("cat",), is_prefix=True)]),
        ("author:Ada", [AUTHOR]),
        ("AUTHOR:ada,", [AUTHOR]),
        ('author:"Ada  L." cat', [Condition(Field.AUTHOR, "ada l."), CAT]),
        ("(author:ada OR cat)", [Either(((AUTHOR,), (CAT,)))]),
        ('-label:"To read"', [Condition(Field.LABEL, "to read", is_excluded=True)]),
        ('label:"#birds"', [BIRDS]),
        ("-label:#birds", [msgspec.structs.replace(BIRDS, is_excluded=True)]),
        ('tag:"#birds"', [BIRDS]),
        ("tag:#birds", [HASHTAG]),
        ("-tag:#birds", [msgspec.structs.replace(HASHTAG, is_excluded=True)]),
        ("has:note has:Video", [Condition(Field.HAS, "note"), Condition(Field.HAS, "video")]),
        ("!is:Read", [Condition(Field.IS, "read", is_excluded=True)]),
        ("before:2026", [dated(Field.BEFORE, "2026-01-01")]),
        ("after:2026-5", [dated(Field.AFTER, "2026-05-01")]),
        ("after:2026/05/31", [dated(Field.AFTER, "2026-05-31")]),
        ("after:2026-05-31T08:00Z", [dated(Field.AFTER, "2026-05-31T08:00:00Z")]),
        ("after:-7d", [Condition(Field.AFTER, "-7d")]),
        ('after:"Last  7 days"', [Condition(Field.AFTER, "last 7 days")]),
        ('before:"3 months ago"', [Condition(Field.BEFORE, "-3m")]),
        ("after:Yesterday", [Condition(Field.AFTER, "today-1d")]),
        ('until:"last  month"', [Condition(Field.BEFORE, "last month")]),
        ("url:https://www.example.com/", [linked("example.com")]),
        ("-domain:a.b", [linked("a.b", is_excluded=True)]),
    ],
)
def test_parses_alternatives_and_fields(text: str, parts: list[Part]) -> None:
    assert parsed(text) == WordQuery(tuple(parts))


@pytest.mark.parametrize(
    "text",
    [
        '"The unexamined life is not worth living." -Socrates',
        "The unexamined life is not worth living. -Socrates",
        "the life is not worth living -Socrates.",
        "Is it worth living? -Socrates",
        "one two three four five six seven eight nine ten eleven twelve thirteen -Socrates",
    ],
)
def test_a_dash_in_a_sentence_excludes_no_word(text: str) -> None:
    query = parsed(text)

    assert Term(("socrates",)) in query.parts
    assert query.hints == ("The query reads like a sentence, so a dash does not exclude a word.",)


MANY = " OR ".join(f"word{number}" for number in range(13))


@pytest.mark.parametrize(
    "text",
    [
        *("U.S. -tax", '"big dog" -tax', "node.js 3.5 -tax", "a, b -tax", f"({MANY}) -tax"),
        *(f"bower {sign}tax" for sign in "-!\u2212\u2013"),
    ],
)
def test_a_dash_after_words_excludes(text: str) -> None:
    assert Term(("tax",), is_excluded=True) in parsed(text).parts


def test_quotation_marks_in_a_pasted_sentence_ask_for_no_exact_words() -> None:
    query = parse('She said the "bower of caps" is a "nest".')

    assert not any(term.is_quoted for term in query.wanted_terms)
    assert {"bower", "caps", "nest"} <= {term.tokens[0] for term in query.wanted_terms}
    assert query.hints == (QUOTES_IN_A_SENTENCE,)
    # A quotation with its author, and a search with quotation marks, are exact.
    for text in ('"Know thyself." -Socrates', 'birds with "bower of caps"', '"a b" OR c.'):
        assert any(term.is_quoted for term in parse(text).wanted_terms), text


def test_a_field_excludes_in_a_sentence_too() -> None:
    assert Condition(Field.IS, "read", is_excluded=True) in parse("Why so? -is:read").parts


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ROCKET NOT MOON", "use -word"),
        ("i do NOT agree", "use -word"),
        ("rocket NOT", "use -word"),
        ("A rocket to the moon | The Daily News", "use OR"),
        ("*thon cat", "only at the end of a word, as in py*, so not in '*thon'"),
        ("py*on", "so not in 'py*on'"),
    ],
)
def test_what_is_no_operator_is_explained(text: str, hint: str) -> None:
    query = parsed(text)

    assert hint in query.hints[0]
    assert not any(part.is_excluded for part in query.parts)


@pytest.mark.parametrize(
    ("text", "term", "hint"),
    [
        ("to:ada", ("to", "ada"), "to: is not a field of this search"),
        ("words:many", ("words", "many"), "words: needs a number, such as words:>500"),
        ("words:<0", ("words", "0"), "words: needs a number"),
        ("since:soon", ("since", "soon"), "since: needs a date such as"),
        ("has:wings", ("has", "wings"), "has: needs one of image, video"),
        ("is:big", ("is", "big"), "is: needs one of read, unread, archived"),
        ("after:soon", ("after", "soon"), "after: needs a date such as"),
        ("before:2026-02-31", ("before", "2026", "02", "31"), "before: needs a date"),
        ("site:somewhere", ("site", "somewhere"), "site: needs a domain such as"),
        ("author:", ("author",), "without a space after the colon"),
        ("cat OR", ("cat",), "OR needs a word on both sides"),
        ("before:вчера", ("before", "вчера"), "'вчера' counts as words"),
        ("in:title", ("in", "title"), "in: needs one of read, unread, archived, all"),
        ("lang:klingon", ("lang", "klingon"), "lang: needs a language, such as"),
    ],
)
def test_a_hint_says_what_was_not_understood(text: str, term: tuple[str, ...], hint: str) -> None:
    query = parsed(text)

    assert query.wanted_terms == (Term(term),)
    assert hint in query.hints[0]


@pytest.mark.parametrize("text", ["https://example.com", "12:30", "re: cats", "a::b", "from: me"])
def test_other_colons_are_not_explained(text: str) -> None:
    assert parse(text).hints == ()


def test_a_relative_date_has_an_instant_if_the_time_is_known() -> None:
    now = 1_784_362_873_841_838

    (week,) = parse("after:-7d", now).conditions

    assert week.instant == (now // 60_000_000 - 7 * 24 * 60) * 60_000_000
    assert moves("cat after:-7d")
    assert not moves("cat after:2026")
    assert parse("after:2026", now) is parse("after:2026", now + 10**12)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-07-18"),
        ("yesterday", "2026-07-17"),
        ("this week", "2026-07-13"),
        ("last week", "2026-07-06"),
        ("this month", "2026-07-01"),
        ("last month", "2026-06-01"),
        ("this year", "2026-01-01"),
        ("last year", "2025-01-01"),
    ],
)
def test_a_named_day_or_period_means_its_beginning(text: str, day: str) -> None:
    now = 1_784_362_873_841_838

    (found,) = parse(f'after:"{text}"', now).conditions

    assert found.instant == instants.parse(day)
    assert moves(f'after:"{text}"')
    assert (
        parse(with_fixed_dates(f'cat after:"{text}"', now)).conditions[0].instant == found.instant
    )


def test_fixes_relative_dates_and_nothing_else() -> None:
    now = 1_784_362_873_841_838
    text = 'cat  (after:-7d OR before:"last 2 weeks") after:2026 "after:-7d"'

    fixed = with_fixed_dates(text, now)

    assert fixed.startswith("cat  (after:2026-07-11T08:21:00.000000+00:00 OR before:")
    assert fixed.endswith(' after:2026 "after:-7d"')
    assert not moves(fixed)
    expected = [one.instant for one in parse(text, now).conditions]
    assert [one.instant for one in parse(fixed).conditions] == expected


@pytest.mark.parametrize(
    "first",
    ["cat", "cat OR dog", "cat OR", '"cat dog', "(cat", "a) b", "a | b", "CAT NOT OWL", "is"],
)
@pytest.mark.parametrize(
    "second", ["cow", "cow OR owl", '-"cow', "-(cow", "OR cow", "NOT cow", "a b c d e f | g"]
)
def test_joined_queries_keep_their_meaning(first: str, second: str) -> None:
    parts = (*parse(first).parts, *parse(second).parts)

    assert parse(joined([first, second])).parts == tuple(dict.fromkeys(parts))


@pytest.mark.parametrize("empty", [")", "?!", "(" * 1_000])
def test_queries_joined_with_one_that_has_no_words_match_nothing(empty: str) -> None:
    assert parse(joined(["cat", empty])).is_empty
    assert parse(joined([empty, "cat"])).is_empty


def test_reads_only_the_first_pieces_of_a_long_query() -> None:
    now = 1_784_362_873_841_838
    dates = "after:-7d " * 300

    assert plain_text("a " * 1_000).count("a") == MAX_PIECES
    assert with_fixed_dates(dates, now).count("-7d") == 300 - MAX_PIECES
    assert joined(["cat " + "(" * 1_000, "cat"]).count(")") == MAX_PIECES


@pytest.mark.parametrize("first", ["a " * 1_000, "(a OR b) " * 200, '"a" ' * 500])
def test_a_long_query_keeps_its_meaning_when_joined(first: str) -> None:
    assert parse(joined([first, "cat"])).parts == parse(first).parts


PIECES = [
    *("(", ")", "-(", "OR", "AND", "cat", "-dog", "ca*", '"a b"', '-"C++ a"', '"', "author:ada"),
    *("label:", 'label:"a b"', "has:x", "is:read", "-is:archived", "after:-7d", "before:2026"),
    *("since:yesterday", 'until:"last month"', "in:all", "has:media", "from:", "is:gone"),
    *("NOT", "|", "&&", "url:a.b/c", "site:?.?"),
]


@given(
    st.text()
    | st.text(st.sampled_from('()-! "aOR'), max_size=300)
    | st.lists(st.sampled_from(PIECES), max_size=200).map(" ".join)
)
def test_every_tree_is_bounded(text: str) -> None:
    query = parse(text)

    assert size(query.parts) <= 3 * MAX_TERMS
    assert depth(query.parts) <= MAX_DEPTH + 1
    assert len(query.hints) <= MAX_HINTS
    for part in nodes(query.parts):
        if isinstance(part, Either):
            assert part.branches
            assert all(part.branches)


def test_as_many_forms_as_possible_are_valid_for_fts5(fts5: apsw.Connection) -> None:
    forms = tuple(Form((f"form{n}", "b"), is_phrase=n % 2 == 0) for n in range(24))
    query = WordQuery(tuple(Term((f"w{n}",) * 64, forms=forms) for n in range(32)))

    wanted = for_fts5(query).wanted

    assert fts5.execute("SELECT count(*) FROM post WHERE post MATCH ?", (wanted,)).fetchall()


def test_writes_alternatives_forms_and_exclusions_for_both_engines() -> None:
    forms = (Form(("nodejs",)), Form(("no", "de"), is_phrase=False))
    node = Term(("node", "js"), forms=forms)
    query = WordQuery((node, Either(((CAT, NOT_COW), (DOG,)))))

    fts5 = '("node" + "js" OR "nodejs" OR ("no" AND "de")) AND (("cat") NOT ("cow") OR "dog")'
    assert for_fts5(query).wanted == fts5
    tsquery = "('node' <-> 'js' | 'nodejs' | ('no' & 'de')) & (('cat') & !('cow') | 'dog')"
    assert for_tsquery(query).wanted == tsquery


def test_leaves_to_sql_what_no_engine_can_express() -> None:
    only_excluded = Either(((CAT,), (NOT_COW,)))
    labelled = Term(("owl",), label_ids=(3,))

    match = for_fts5(WordQuery((DOG, AUTHOR, only_excluded, labelled)))

    assert match == Match('"dog"', None, rest=(AUTHOR, only_excluded, labelled))


def test_knows_which_parts_limit_a_search_by_meaning() -> None:
    query = parsed("cat -cow author:ada (dog OR owl) -(a OR b) (is:read OR has:note)")

    assert query.limits == parsed("-cow author:ada -(a OR b) (is:read OR has:note)")
    assert [term.tokens[0] for term in query.wanted_terms] == ["cat", "dog", "owl"]


def nodes(parts: tuple[Part, ...]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Either):
            for branch in part.branches:
                yield from nodes(branch)


def size(parts: tuple[Part, ...]) -> int:
    return sum(1 for _ in nodes(parts))


def depth(parts: tuple[Part, ...]) -> int:
    inner = [depth(b) for part in parts if isinstance(part, Either) for b in part.branches]
    return 1 + max(inner, default=0)
