"""English words whose base form no rule of a stemmer finds."""

from collections.abc import Mapping
from typing import Final

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
