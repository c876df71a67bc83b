"""Changes that take turns, and the undo of every change.

`BulkChanges` in changes.py is what REST, pages and tools call:

    row = await changes.run(account, change)                 # see selection.py for its posts
    row = await changes.run_label(account, label_id)         # deletes a label
    row = await changes.run_label(account, label_id, into)   # merges it into another one
    row = await changes.get(account, row.change_id)          # its progress
    row = await changes.run_undo(account, row.change_id)     # for an hour

Ids of labels are texts, as in the API. `start`, `start_label`, `rename` and `undo` do the same
inside the caller's transaction, and `finish_soon` lets a request wait for the end. The changes and
undos of an account are made in the order of acceptance. One that fits into one turn and waits for
no other is finished when the call returns; otherwise a job does the rest, and `row.is_finished`
says which.

What a change sets or clears on each post is kept in `bulk_post`. Posts that a request names are
changed outside of this package, in one transaction (`library/bookmarks/writing/kept_changes.py`).
Writers that keep nothing call `BulkStore.take_over` for the fields that they change (`Changeset`
and `Upsert` do), and an undo leaves those alone. All of them call `claim` for the labels that they
add, and a change that is about to delete such a label leaves it on these posts.
"""
