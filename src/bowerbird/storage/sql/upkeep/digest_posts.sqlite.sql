-- name: rendered
CAST(c.rendering || ',"updated_at":"' || b.updated_at || '+00:00"' AS BLOB)
