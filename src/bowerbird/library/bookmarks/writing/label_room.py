"""Gives imported posts as many of their labels as the limits allow, and reports the others."""

import msgspec

from bowerbird.model.imports import ExistingBookmark, Incoming, LeftOutLabels
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.libraries import LockedLibrary


class LabelRoom:
    """The labels of one chunk of an import. A post keeps all labels that it already has."""

    def __init__(
        self, opened: LockedLibrary, labels: dict[str, Label], new_labels: int, per_post: int
    ) -> None:
        """`new_labels` is how many labels may be created."""
        self._opened = opened
        self._new_labels = new_labels
        self._per_post = per_post
        # Existing and created labels, by folded name.
        self.labels = labels
        self.created: list[Label] = []
        self.left_out: list[LeftOutLabels] = []

    def fit(self, incoming: Incoming, stored: ExistingBookmark | None) -> Incoming:
        """The post with the labels that it gets; labels that do not exist yet are created."""
        if not incoming.tags:
            return incoming
        kept = set() if stored is None else incoming.tags.keys() & stored.tags
        over_post: list[str] = []
        over_account: list[str] = []
        for key, name in incoming.tags.items():
            if key in kept:
                continue
            if len(kept) >= self._per_post:
                over_post.append(name)
            elif not self._exists(key, name):
                over_account.append(name)
            else:
                kept.add(key)
        self._report(incoming, over_post, f"a post can have {self._per_post:,} labels")
        self._report(incoming, over_account, f"an account can have {limits.LABELS_MAX:,} labels")
        if len(kept) == len(incoming.tags):
            return incoming
        tags = {key: name for key, name in incoming.tags.items() if key in kept}
        return msgspec.structs.replace(incoming, tags=tags)

    def _exists(self, key: str, name: str) -> bool:
        """Creates the label if it is new; False if there is no room for it."""
        if key in self.labels:
            return True
        if len(self.created) >= self._new_labels:
            return False
        label = self._opened.new_label(name)
        self.labels[key] = label
        self.created.append(label)
        return True

    def _report(self, incoming: Incoming, names: list[str], reason: str) -> None:
        if names:
            self.left_out.append(LeftOutLabels(incoming.post_id, names, reason))
