"""Lists of words: the commonest ones, those that say nothing, irregular English ones."""
# ruff: noqa: RUF001 - letters of other scripts that look like Latin ones

from collections.abc import Mapping
from typing import Final

from bowerbird.search.words.token_folding import fold

ENGLISH: Final = "en"

# Of Latin script, folded as the index folds them. They get no stems: nobody searches for them.
FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a the and of to in is that for it with on was are this be as at by from you not
            have has had but they we or an will can what which their there all if would when
            more about out up one how your my he she his her them been were than its just so our
            into i im dont do does did only over after these some could also new get no any""",
        "de": """der die das und ist nicht ein eine einen einem einer zu den dem des mit fur auf
            von im ich sie wir es er auch als an wie bei oder aber nur noch nach wird werden sind
            hat haben war aus uber wenn dass kann mehr zum zur durch sich man so schon sehr
            mein dein kein keine unser ihr was wer gibt heute immer vom unter ohne""",
        "fr": """le la les de des du et est un une dans en pour que qui pas sur par plus avec ce
            cette ces au aux il elle nous vous je ne se son sa ses mais ou comme tout sont a ont
            leur on y c l d j n qu mon ma mes etre fait bien tres aussi sans sous entre chez""",
        "es": """el la los las de del y en es un una que por para con no se su sus lo al mas pero
            como este esta esto son fue ha han muy sin sobre entre ya me mi tu si cuando donde
            todo todos hay ser porque desde hasta nos tambien asi hoy""",
        "pt": """o a os as de do da dos das e em no na nos nas um uma que para por com nao se seu
            sua mais mas como este esta isso sao foi ao aos pelo pela muito ja eu ele ela voce
            meu minha tem ser ter quando onde tambem sem sobre entre ate hoje""",
        "it": """il lo la i gli le di del della dei delle e un una che per con non si sono ha ho
            piu ma come questo questa nel nella al alla da dal su anche suo sua mi ti ci se era
            essere tutto tutti molto cosi quando dove perche ogni oggi tra fra""",
        "nl": """de het een en van ik je dat die in is niet met op te voor zijn er maar om aan ook
            als bij wat nog naar dan uit kan wel geen door over deze dit worden wordt hebben heeft
            was werd mijn ons onze hun meer zo veel moet waar hier al""",
        "sv": """och att det som en ett i pa ar av for med den till inte om jag har de ett var men
            sig sa vi han hon kan nar fran ska skulle eller bara mycket hur efter nu vara mot
            utan mer alla denna detta dessa vad finns""",
        "da": """og at det er en et i pa af for med den til ikke om jeg har de der som var men sig
            sa vi han hun kan nar fra skal ville eller kun meget hvor efter nu vaere mod uden mere
            alle denne dette disse hvad blev bliver ogsa hvis""",
        "no": """og at det er en et i pa av for med den til ikke om jeg har de som var men seg sa
            vi han hun kan nar fra skal ville eller bare mye hvor etter na vaere mot uten mer alle
            denne dette disse hva ble blir ogsa hvis""",
        "fi": """ja on ei etta se oli han mutta kun niin kuin myos ovat mina sina me te he joka
            tai jos nyt vain mita tama tassa sen ole olen hyvin viela jo kanssa ennen jalkeen
            ilman ettei voi""",
        "hu": """a az es hogy nem is egy van ez meg de mar csak volt mint ha vagy azt ezt meg el
            ki be le fel sem lesz lehet minden nagyon kell mert igen akkor itt ott nekem ami aki
            most""",
        "tr": """ve bir bu da de icin ile cok ne daha gibi ama var yok mi mu olarak olan en kadar
            sonra ben sen biz siz o onlar degil her sey ki ya bunu oldu olur cunku hem veya hic
            nasil""",
        "ro": """si de la in cu pe este nu un o care sa din pentru ce mai sunt a au am ca se al ale
            lui ei dar sau fost foarte cand unde prin dupa fara acest aceasta aceste toate tot
            mult""",
        "pl": """i w na z nie to sie do jest ze jak o za od po co dla ale czy tak juz tylko przez
            przy jego jej ich sa byl byla bylo bardzo oraz lub jeszcze gdy gdzie kiedy ma mam ten
            ta te tym moze bez""",
        "cs": """a v na se je ze to s z do o i k pro jak ale za by jsem jsou byl byla bylo po co
            tak od jako nebo uz pri jen jeho jeji ve si kdyz kde ktery ktera ktere take velmi
            bez neni""",
        "ca": """el la els les de del dels i en es un una que per amb no se seu seva mes pero com
            aquest aquesta aixo son ha han molt sense sobre entre ja em meu tot tots hi quan on
            perque des fins tambe avui""",
        "id": """yang dan di ini itu untuk dengan dari tidak ke pada adalah akan saya kami kita
            mereka ada bisa sudah atau juga karena oleh lebih sebagai dalam kamu anda apa telah
            dapat banyak seperti saat hari""",
        "vi": """khong duoc trong nhung nguoi cung cua cac mot nay voi vao""",
        "et": """ja on ei et see oli ta aga kui nii ka ma sa me te nad mis kes voi siis nuud ainult
            seda selle oma ole olen vaga veel juba koos enne parast ilma""",
        "lt": """ir kad yra ne tai su is i ar bet kaip tik jau buvo jo jos ju mes jus as tu kas
            kur kai arba po prie nuo iki labai dar del""",
    }.items()
}

# As they are written. Other languages of these scripts have letters of their own.
OTHER_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "bg": "се са ще съм това как който която че от най със към беше без",
        "ru": "и не что он она это по из у я мы вы был была как от без",
        "mr": "आहे आणि आहेत नाही मी हे ते काय होते",
        "ne": "छ छन् छु हो गर्न हुन्छ पनि भएको नेपाल तपाईं",
    }.items()
}


# Short on purpose: rarity already takes the weight from common words. These only keep a question
# such as "how do I …" from reading the longest lists of the index. "Us" and "who" are missing,
# because they are also the US and the WHO.
_WORDS: Final = (
    "a about all also am an and any are as at be been but by can could did do does dont for "
    "from had has have he her his how i if in into is it its just like me more most my no "
    "not of on one or our out s she should so some t than that the their them then there "
    "these they this to up was we were what when where which why will with would you "
    "your au aux de der des die das du el en et il la las le les los un una une und ist mit "
    "que qui"
)
STOP_WORDS: Final = frozenset(_WORDS.split(" "))


# A form that is a common word of its own (found, left, felt, lives) is left out.
_FORMS: Final = """
child: children
man: men
woman: women
foot: feet
tooth: teeth
mouse: mice
goose: geese
ox: oxen
leaf: leaves
knife: knives
wife: wives
wolf: wolves
shelf: shelves
half: halves
thief: thieves
loaf: loaves
hoof: hooves
criterion: criteria
phenomenon: phenomena
analysis: analyses
thesis: theses
hypothesis: hypotheses
crisis: crises
cactus: cacti
fungus: fungi
index: indices
matrix: matrices
vertex: vertices
appendix: appendices
begin: began begun
break: broke broken
bring: brought
build: built
buy: bought
catch: caught
choose: chose chosen
draw: drew drawn
drink: drank drunk
drive: drove driven
eat: ate eaten
fight: fought
fly: flew flown
forget: forgot forgotten
freeze: froze frozen
give: gave given
grow: grew grown
hide: hid hidden
hold: held
keep: kept
know: knew known
lose: lost
meet: met
pay: paid
ride: rode ridden
ring: rang rung
run: ran
sell: sold
send: sent
shake: shook shaken
shoot: shot
shrink: shrank shrunk
sing: sang sung
sink: sank sunk
sleep: slept
speak: spoke spoken
spend: spent
steal: stole stolen
swim: swam swum
take: took taken
teach: taught
tell: told
think: thought
throw: threw thrown
wake: woke woken
wear: wore worn
win: won
write: wrote written
""".strip()

IRREGULAR_WORDS: Final[Mapping[str, str]] = {
    form: base
    for line in _FORMS.splitlines()
    for base, _, forms in [line.partition(": ")]
    for form in forms.split()
}

# Words that only ask or join say nothing about the post that answers. In a library of several
# languages, few posts have them, so their rarity does not tell. The lists above have no question
# words, because they also show the language of a post. These are as people write them; of Chinese,
# the pairs of characters of which the index consists.
_ADDED: Final = {
    "ar": """ما ماذا من متى أين كيف لماذا كم أي أية هل هو هي في على إلى عن مع التي الذي الذين
        هذا هذه ذلك تلك كان كانت أن إن لا لم قد تم بين بعد قبل عند كل أو""",
    "bg": """и в на с за от до по не си му го я ги той тя те кой коя кое кои какво какъв каква
        къде кога защо как колко""",
    "ca": "qui què quin quina quins quines quants quantes",
    "cs": "kdo koho komu co kolik jaký jaká jaké kam odkud proč",
    "da": "hvem hvilken hvilket hvilke hvorfor hvordan hvornår",
    "de": """wo wohin woher wann warum wieso weshalb wen wem wessen welche welcher welches
        welchen welchem wieviel wieviele womit wofür wodurch woran wurde wurden""",
    "el": """ο η το οι τα του της των τον την τους τις ένας μία μια ένα ενός μιας και να για με
        σε από στο στη στην στον στα στους στις που ως ότι είναι ήταν έχει είχε δεν θα
        κατά αυτό αυτή αυτός τι ποιος ποια ποιο ποιοι ποιες ποιον ποιους ποιου ποιας ποιων
        πού πότε πώς πόσο πόση πόσοι πόσες πόσα γιατί""",
    "es": "quién quiénes cuál cuáles adónde cuánto cuánta cuántos cuántas",
    "et": "kelle millal miks kuidas milline mitu",
    "fa": """چه چی کی کجا چرا چگونه چطور چند کدام و در به از که این آن را با است برای بود شد می
        یک تا هم""",
    "fi": """mikä missä mistä mihin milloin miksi kuka kenen ketkä kuinka miten millainen mitkä
        minkä""",
    "fr": "quel quelle quels quelles quoi où quand comment pourquoi combien lequel laquelle",
    "he": """מה מי מתי איפה היכן איך למה מדוע כמה איזה איזו אילו של את על עם הוא היא זה זו לא
        כי אם גם או אל""",
    "hi": """क्या कौन कौनसा किस किसने किसे किसका किसकी किसके कब कहाँ कहां क्यों कैसे कितना
        कितनी कितने सा सी के का की को में से ने पर है हैं था थी थे और या यह वह एक भी ही
        लिए गया गई गए हो कर जो इस उस तक""",
    "hu": "mi mit mikor hol hova honnan miért kik kit hogyan melyik mennyi hány milyen",
    "id": "siapa apakah kapan mengapa kenapa bagaimana berapa mana dimana",
    "it": "chi cosa quale quali quanto quanta quanti quante",
    "nl": "wie welk welke waarom wanneer waarvoor waarmee hoe hoeveel",
    "no": "hvem hvilken hvilket hvilke hvorfor hvordan",
    "pl": """kto kogo komu kim kiedy dlaczego ile jaki jaka jakie jakiego skąd dokąd która
        który które""",
    "pt": "quê quem qual quais quanto quanta quantos quantas aonde porquê",
    "ro": "care cine cui cum câți câte cât câtă",
    "ru": """в во на с со о об к до при для за над под но же ли бы его ее их тот эта это этот
        эти кто кого кому кем чем чего чему что какой какая какое какие каком какого какую
        каким каких где куда откуда когда почему зачем сколько который которая которое
        которые была было были""",
    "sv": "vem vilken vilket vilka varför hur vems",
    "tr": """hangi hangisi kim kimin kimi kime kimler nerede nereye nereden neden niçin niye
        kaç neler nedir""",
    "uk": """і й та в у на з до для за про як що хто кого кому коли де куди чому скільки який
        яка яке які якого якій був була було були не""",
    "vi": """là của và có được ở này những một các cho đã với trong không như từ khi để ra do
        bị về tại sẽ theo gì nào ai đâu sao bao nhiêu""",
    "zh": "什么 为什 怎么 怎样 如何 多少 哪个 哪些 哪里 哪一 何时",
}
# A Hindi question with a word that these languages have too, such as `हो`, is taken for them.
_ADDED.update(mr=_ADDED["hi"], ne=_ADDED["hi"])
_LISTED: Final = {**FUNCTION_WORDS, **OTHER_FUNCTION_WORDS}
QUESTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: _LISTED.get(language, frozenset()).union(fold(_ADDED.get(language, "")).split())
    for language in sorted({*_LISTED, *_ADDED})
}
