-- compatible: yes
-- When a bookmark last changed, as updated_at shows it but without the offset: a list only copies it.
ALTER TABLE bookmark ADD COLUMN updated_at text COLLATE "C"
    NOT NULL DEFAULT '1970-01-01T00:00:00.000000';

-- Nothing has recorded it for stored posts, so they have the time of their import.
UPDATE bookmark
   SET updated_at = to_char(timestamp '1970-01-01' + imported_at * interval '1 microsecond',
                            'YYYY-MM-DD"T"HH24:MI:SS.US')
 WHERE imported_at BETWEEN 0 AND 253402300799999999;

CREATE INDEX bookmark_by_updated ON bookmark (account_id, updated_at, number);
