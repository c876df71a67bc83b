"""Posts about birds, about money, and about neither."""

BIRDS = (
    "Bowerbirds collect blue things for their nests.",
    "A blackbird sings on our roof every evening.",
    "Crows and magpies build nests in the old oak.",
    "The owl hunts mice above the meadow at night.",
    "Swifts and swallows have come back from the south.",
)
MONEY = (
    "The central bank raised its interest rates again.",
    "Inflation eats the savings on my bank account.",
    "How to read the balance sheet of a company.",
    "Shares fell after the bank published its results.",
    "A budget for a household with two incomes.",
)
OTHERS = (
    "A recipe for plum cake with too many plums.",
    "The night train to Vienna was an hour late.",
    "My cat sleeps on the printer all day long.",
    "A new museum for modern glass opens in the harbour.",
    "The referee counted the wrong goal in the final.",
    "She translated the novel in eleven months.",
    "Our washing machine was repaired with a paper clip.",
    "Astronauts grow tomatoes in orbit.",
    "The choir rehearses in the tram depot.",
    "How to sharpen a kitchen knife on a stone.",
    "A letter from 1911 about the price of coal.",
    "The volcano on the island is quiet again.",
)
