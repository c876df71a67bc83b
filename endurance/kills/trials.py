"""One trial: a fresh library, work on it that is killed again and again, and what must be true."""

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from bowerbird.settings import Settings
from tests.crash import killing
from tests.crash.killing import Moment, Work
from tests.support import serving

SQLITE: Final = "sqlite"
POSTGRES: Final = "postgres"
DATABASES: Final = (SQLITE, POSTGRES)
EMAIL: Final = "you@example.com"
# Work that gets no further in so many lives is finished without another kill.
MOST_KILLS: Final = 40


@dataclass(frozen=True)
class Library:
    """A library in a folder of its own."""

    folder: Path
    # Settings by their names.
    options: dict[str, Any]
    # How to reach the process that runs beside it.
    beside: Any = None

    @property
    def settings(self) -> Settings:
        return Settings(**self.options)

    @property
    def environment(self) -> dict[str, str]:
        return serving.environment_of(**self.options)

    def command(self, *arguments: str) -> str:
        return serving.command(*arguments, environment=self.environment)


@dataclass
class Trial:
    library: Library
    # What the preparation returned.
    state: Any
    chance: random.Random
    kills: int = 0

    @property
    def settings(self) -> Settings:
        return self.library.settings

    def life(self, work: Work, moment: Moment | None) -> bool:
        """Whether the work finished before it was killed."""
        is_finished = killing.one_life(work, self.chance, moment)
        self.kills += not is_finished
        return is_finished

    def until_finished(self, work: Work, moment: Moment, most_kills: int = MOST_KILLS) -> None:
        for _ in range(most_kills):
            if self.life(work, moment):
                return
        assert self.life(work, None)


# Serves until it is killed. Calls the function with settings and an address when it is ready.
StandIn = Callable[[Path, Callable[[dict[str, Any], Any], None]], None]


class Kind(NamedTuple):
    """A kind of work. It is prepared once per database, and each trial gets a copy."""

    run: Callable[[Trial], None]
    # Returns what the trials need to know. It must survive pickling.
    prepare: Callable[[Library], Any] = lambda _: None
    databases: tuple[str, ...] = DATABASES
    stand_in: StandIn | None = None
    # Whether the library has the current schema and an account, and is checked at the end.
    is_library: bool = True


Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Order:
    """Which trial to run. The same order kills at the same turns again."""

    kind: str
    database: str
    seed: int

    def __str__(self) -> str:
        return f"--only {self.kind} --database {self.database} --seed {self.seed}"

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.database}-{self.seed}"


@dataclass
class Preparation:
    """Runs in a process of its own."""

    kind: Kind
    library: Library
    state: Any = field(default=None)

    def __call__(self) -> Any:
        _use(self.library)
        if self.kind.is_library:
            self.library.command("account", "create", EMAIL)
        return self.kind.prepare(self.library)


class Outcome(NamedTuple):
    kills: int
    # Processor time of all its processes, without the database server.
    cpu_s: float


@dataclass
class Performance:
    """Runs in a process of its own."""

    kind: Kind
    library: Library
    state: Any
    order: Order

    def __call__(self) -> Outcome:
        _use(self.library)
        trial = Trial(self.library, self.state, random.Random(self.order.name))
        self.kind.run(trial)
        if self.kind.is_library:
            assert self.library.command("check", "--deep") == "No problems found."
        return Outcome(trial.kills, sum(os.times()[:4]))


def _use(library: Library) -> None:
    """Lives read their settings from the environment."""
    os.environ.clear()
    os.environ.update(library.environment)
