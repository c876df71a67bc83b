-- name: rendered
c.rendering || convert_to(',"updated_at":"' || b.updated_at || '+00:00"', 'UTF8')
