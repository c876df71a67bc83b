"""Words that say nothing about a post. They do not rank, unless a query has no others."""

from typing import Final

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
