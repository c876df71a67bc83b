-- name: columns
v.slug, v.name, v.description, v.base_query, v.default_sort, v.triage_buckets, v.created_at,
v.updated_at, v.position, v.is_pinned

-- name: all
SELECT {columns}
  FROM smart_view AS v
 WHERE v.account_id = :account_id
 ORDER BY v.position, v.created_at, v.slug

-- name: pinned
SELECT {columns}
  FROM smart_view AS v
 WHERE v.account_id = :account_id
   AND v.is_pinned
 ORDER BY v.position, v.created_at, v.slug
 LIMIT :limit

-- name: by_slug
SELECT {columns}
  FROM smart_view AS v
 WHERE v.account_id = :account_id
   AND v.slug = :slug

-- name: put
INSERT INTO smart_view (account_id, slug, name, description, base_query, default_sort,
                        triage_buckets, created_at, updated_at, position, is_pinned)
VALUES (:account_id, :slug, :name, :description, :base_query, :default_sort,
        :triage_buckets, :created_at, :updated_at, :position, :is_pinned)
    ON CONFLICT (account_id, slug) DO UPDATE
   SET name = excluded.name,
       description = excluded.description,
       base_query = excluded.base_query,
       default_sort = excluded.default_sort,
       triage_buckets = excluded.triage_buckets,
       updated_at = excluded.updated_at,
       position = excluded.position,
       is_pinned = excluded.is_pinned

-- name: place
UPDATE smart_view
   SET position = :position
 WHERE account_id = :account_id
   AND slug = :slug

-- name: delete
DELETE FROM smart_view
 WHERE account_id = :account_id
   AND slug = :slug
