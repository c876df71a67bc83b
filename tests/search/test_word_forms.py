"""A word of a query finds the posts that write it in another way."""
# ruff: noqa: RUF001 - words of many scripts

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bowerbird.model.words import OTHER_FORM, STEM, STEM_WEIGHT, Form
from bowerbird.search.words.tokens import index_text, lone_sigil_word, words
from bowerbird.search.words.word_forms import MAX_FORMS, others_of, own_word
from tests.search.test_index_tokens import TEXTS

# Of each kind: the text of a post, and words that must find it.
PAIRS: dict[str, list[tuple[str, str]]] = {
    "joined": [
        ("Built with Node.js today", "nodejs node.js NodeJS node-js"),
        ("GPT-4 is out", "gpt4 GPT-4 gpt"),
        ("We tried GPT4 and Llama3", "GPT-4 gpt4 llama gpt-4"),
        ("Send me an e-mail", "email e-mail E-Mail emails"),
        ("Send me an email", "e-mail emails"),
        ("Free Wi-Fi here", "wifi wi-fi WiFi"),
        ("free wifi here", "Wi-Fi wi-fi"),
        ("Made in the U.S. and the U.K.", "us uk U.S. U.K."),
        ("Made in the US", "U.S."),
        ("She has a Ph.D. in physics", "phd PhD"),
        ("The AT&T network", "att AT&T"),
        ("It costs 1,250,000 dollars", "1250000 1,250,000"),
        ("It costs 1.250.000 Euro", "1250000 1.250.000"),
        ("It costs 1 250 000 euros", "1250000 1,250,000"),
        ("It costs 1250000", "1,250,000 1.250.000"),
        ("ISBN 978-3-16-148410-0", "9783161484100"),
        ("COVID-19 wave", "covid19 covid-19 covid"),
        ("a T-shirt and an X-ray", "tshirt xray t-shirt"),
        ("TCP/IP explained", "tcpip tcp/ip"),
        ("co-operation and re-use", "cooperation reuse"),
    ],
    "apostrophe": [
        ("İstanbul'da güzel bir gün", "istanbul İstanbul'da istanbulda İstanbul'dan"),
        ("Türkiye\u2019nin en büyük gölü ve dağı", "türkiye turkiye Türkiye'de"),
        ("Ankara'ya bir tren var", "ankara Ankara'dan"),
        ("Prendre l'avion à Paris", "avion lavion l'avion l\u2019avion"),
        ("un avion dans le ciel", "l'avion"),
        ("aujourd'hui c'est bien", "aujourdhui aujourd'hui"),
        ("nell'isola dell'arte", "isola arte dellarte"),
        ("McDonald's opens", "mcdonalds mcdonald McDonald's"),
        ("Conan O'Brien speaks", "obrien brien o'brien"),
        ("don't panic", "dont don't"),
    ],
    "parts": [
        ("OpenAI and YouTube", "open ai tube youtube"),
        ("parseHttpRequest is slow", "http request parse"),
        ("the function read_csv_file", "csv read file readcsvfile"),
        ("see __init__ there", "init"),
        ("#MachineLearning is fun", "machine learning machinelearning"),
        ("#climate_change now", "climate change climatechange"),
        ("@ada_lovelace wrote it", "ada lovelace adalovelace"),
        ("@AdaLovelace99 wrote it", "ada lovelace"),
        ("an iPhone15 and an RTX4090", "iphone 15 rtx 4090"),
        ("a run of 100km", "100 km"),
        ("Many NGOs and APIs", "ngo api"),
        ("昨日iPhone15を買う", "iphone15 iphone"),
    ],
    "split": [
        ("A new open AI model", "OpenAI"),
        ("The RTX 4090 and GPT 4", "rtx4090 gpt4 GPT-4"),
        ("read csv file", "read_csv_file"),
        ("Python 3.11 is fast", "python3.11"),
        ("GPT4.5 preview", "gpt-4.5"),
    ],
    "own words": [
        ("Learning C++ now", "C++ c++ cplusplus"),
        ("C++17, at last", "C++17 C++ (C++)"),
        ("cplusplus tips", "C++"),
        ("C# or F#?", "C# c# F# csharp fsharp"),
        ("Use .NET and ASP.NET.", ".NET .net dotnet aspnet ASP.NET"),
        ("dotnet and csharp", ".NET C#"),
    ],
    "spelling": [
        ("The colour of the sky", "color colour colors"),
        ("My favorite colors", "favourite colour colours"),
        ("We organised the centre", "organized organize center centre organising"),
        ("They organize a program", "organise programme organised"),
        ("Travelling in grey tyres", "traveling gray tires travel"),
        ("He analysed the catalogue", "analyzed catalog analyse"),
        ("The defence of labour", "defense labor"),
        ("an encyclopaedia of anaesthetics", "encyclopedia anesthetic"),
        ("Straße und Fluß sind nass", "strasse fluss Straße STRASSE"),
        ("Müller wohnt in München", "mueller muller Müller muenchen Muenchen"),
        ("Mueller lives in Duesseldorf", "müller muller düsseldorf dusseldorf"),
        ("fuer die gruene Tuer ist das gut", "für grüne tür"),
        ("Rejsen til København og Ålborg", "koebenhavn kobenhavn aalborg"),
    ],
    "arabic and hebrew": [
        ("ذهبت إلى المدرسة", "مدرسة مدرسه المدرسه المدرسة"),
        ("قرأت الكتاب والقصة", "كتاب قصة القصة قصه"),
        ("هذا كتاب جديد", "الكتاب كتاب"),
        ("بالسيارة وللمدينة", "سيارة مدينة السيارة"),
        ("قرأت ٥ كتب على مصطفى", "علي مصطفي"),
        ("הספר על השולחן", "ספר שולחן"),
        ("ספר חדש", "הספר"),
    ],
    "korean": [
        ("오늘 날씨가 좋습니다", "날씨 날씨는 날씨가"),
        ("한국어를 공부합니다", "한국어 공부 한국"),
        ("서울에서 만나요", "서울 서울의"),
        ("인공지능은 재미있다", "인공지능 인공 지능"),
    ],
    "stems": [
        ("Running and swimming herons", "run runs swim heron running"),
        ("a heron runs", "herons running"),
        ("the nationalization of libraries", "library nationalize libraries"),
        ("Children wrote stories about mice", "child write story mouse"),
        ("the child has a story", "children stories"),
        ("Die Häuser und die Bücher sind alt", "Haus häusern Buch haeuser bücher"),
        ("Das Haus ist nicht groß", "Häuser häusern"),
        ("Las bibliotecas y los libros de la ciudad", "biblioteca libro ciudades libros"),
        ("Les chevaux et les maisons dans la ville", "maison villes"),
        ("As cidades e os livros do mundo", "cidade livro mundos"),
        ("Le biblioteche e i libri della città", "biblioteca libro"),
        ("De boeken en de huizen van het dorp", "boek boeken"),
        ("Böckerna och husen är inte nya", "böcker huset"),
        ("Kitaplardan ve evlerden çok şey", "kitap kitaplar"),
        ("Książki i książkami w domu nie są", "książka książką"),
        ("Kirjat ja kirjastot ovat kun se", "kirja kirjasto"),
        ("Мы читали книги о людях и городах", "книга книгой город города"),
        ("Οι άνθρωποι και τα βιβλία", "άνθρωπος ανθρώπους"),
        ("मुझे किताबें पसंद हैं", "किताब किताबों"),
        ("من کتاب\u200cها را خواندم و گفتم", "کتاب"),
        ("#RunningShoes for sale", "run shoe"),
    ],
    "stems of a short sentence": [
        ("Der Vogel sammelt blaue Flaschendeckel", "blau Vögel"),
        ("Boeken in de bibliotheek", "boek bibliotheken"),
        ("De vogel verzamelt blauwe doppen", "vogels dop"),
        ("Kirjastossa on paljon kirjoja", "kirja kirjasto"),
        ("Lintu kerää sinisiä pullonkorkkeja", "lintuja pullonkorkki"),
        ("I libri della biblioteca dell'arte", "libro biblioteche"),
        ("El pájaro recoge tapas azules", "pájaros tapa azul"),
        ("O pássaro coleciona tampas azuis", "pássaros tampa"),
        ("Ptak zbiera niebieskie nakrętki", "ptaki nakrętka"),
        ("Könyvtárban olvastam könyveket", "könyvtár könyv"),
    ],
}  # fmt: skip
CASES = [
    pytest.param(post, query, id=f"{kind}: {query} in {post}")
    for kind, pairs in PAIRS.items()
    for post, queries in pairs
    for query in queries.split()
]


def has(indexed: list[str], form: Form) -> bool:
    if not form.is_phrase:
        return all(token in indexed for token in form.tokens)
    if form.is_prefix:
        return any(token.startswith(form.tokens[0]) for token in indexed)
    length = len(form.tokens)
    starts = range(len(indexed) - length + 1)
    return any(tuple(indexed[start : start + length]) == form.tokens for start in starts)


def finds(query: str, post: str) -> bool:
    indexed = index_text([post]).split()
    term = Form(own_word(query) or tuple(words(query)))
    return any(has(indexed, form) for form in (term, *others_of(query)))


@pytest.mark.parametrize(("post", "query"), CASES)
def test_a_word_finds_a_post_that_writes_it_in_another_way(post: str, query: str) -> None:
    assert finds(query, post)


@pytest.mark.parametrize(
    ("post", "query"),
    [
        ("vitamin C and the letter F", "C++"),
        ("vitamin C", "C#"),
        ("the net is wide, see foo.net", ".NET"),
        ("Python 3.11", "311"),
        ("a pot of tea", "poet"),
        ("a gust of wind", "guest"),
        ("the news", "new"),
        ("organ music", "organise"),
        ("https://example.com/aB3dE9", "ab"),
        ("날개", "날씨"),
        ("قصر", "القصة"),
    ],
)
def test_a_word_does_not_find_another_word(post: str, query: str) -> None:
    assert not finds(query, post)


def test_stems_count_less_than_spellings() -> None:
    weights = {form.tokens: form.weight for form in others_of("colours")}

    assert weights["colors",] == weights[f"{OTHER_FORM}colors",] == 1
    assert weights[f"{STEM}color",] == weights["color",] == STEM_WEIGHT


def test_a_prefix_also_matches_joined_words() -> None:
    assert others_of("nodej*") == (Form((f"{OTHER_FORM}nodej",), is_prefix=True),)
    assert finds("nodej*", "node.js")
    assert others_of("n*") == ()


@pytest.mark.parametrize("text", ["#python", "@ada_l", "東京", "https://example.com/a", "", "?!"])
def test_handles_hashtags_addresses_and_scripts_without_spaces_have_one_form(text: str) -> None:
    assert others_of(text) == ()


@given(TEXTS | st.sampled_from([query for pairs in PAIRS.values() for _, query in pairs]))
@example("İ" * 30)
@example("a'" * 40)
def test_any_text_has_a_limited_number_of_other_forms(text: str) -> None:
    forms = others_of(text)

    term = own_word(text) or tuple(words(text))
    assert len(forms) <= MAX_FORMS
    assert len({form.tokens for form in forms}) == len(forms)
    assert term not in {form.tokens for form in forms}
    assert all(
        token and not token.isspace() and " " not in token for f in forms for token in f.tokens
    )
    assert all(len(token.split()) == 1 for form in forms for token in form.tokens)
    if lone_sigil_word(text):
        assert forms == ()


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20))
def test_every_word_finds_itself(text: str) -> None:
    if words(text):
        assert finds(text, f"before {text} after")
