"""Words that only ask or join, by language: they say nothing about the post that answers.

In a library of several languages, few posts have them, so their rarity does not tell. Those of
`word_lists` have them without question words, because they also show the language of a post.
"""
# ruff: noqa: RUF001 - letters of other scripts that look like Latin ones

from collections.abc import Mapping
from typing import Final

from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.word_lists import FUNCTION_WORDS, OTHER_FUNCTION_WORDS

# As people write them; of Chinese, the pairs of characters of which the index consists.
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
_LISTED: Final = {**FUNCTION_WORDS, **OTHER_FUNCTION_WORDS}
QUESTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: _LISTED.get(language, frozenset()).union(fold(_ADDED.get(language, "")).split())
    for language in sorted({*_LISTED, *_ADDED})
}
