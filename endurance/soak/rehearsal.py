"""Tries each kind of write once before anything is killed, and measures what it does.

A write raises the version of its library by a number that depends only on its kind. At the end the
versions show whether a write was made twice, even one that changes nothing the second time.
"""

from endurance.soak import cast
from endurance.soak.clients.load import Setting
from endurance.soak.clients.writers import Writer
from endurance.soak.inspection import Inspection

_TIMES = 3


def measured_steps(setting: Setting, inspection: Inspection) -> dict[str, int]:
    """By how much one write of each kind raises the version."""
    holder = cast.REHEARSING
    writer = Writer(setting, holder, 0, cast.before(holder))
    works = {
        "label add": writer.add_label,
        "label remove": writer.remove_label,
        "label batch": writer.batch,
        "tool: labels": writer.call_tool,
        "mark": writer.mark,
        "patch": writer.patch,
        "save": writer.save,
        "create view": writer.create_view,
        "delete": writer.delete,
        "restore": writer.restore,
    }
    steps: dict[str, int] = {}
    for kind, work in [*works.items()] * _TIMES:
        before, written = inspection.versions()[holder.name], setting.ledger.count(holder.name)
        # A step does nothing if it chooses a label that no post has.
        while setting.ledger.count(holder.name) == written:
            work()
        raised = inspection.versions()[holder.name] - before
        if steps.setdefault(kind, raised) != raised:
            raise AssertionError(f"{kind} raises the version by {steps[kind]} or by {raised}")
    steps["free: save"] = steps["save"]
    return steps
