-- name: set_tags
UPDATE content SET tags = :tags WHERE place = :place + :number

-- name: remove_content
DELETE FROM content
 WHERE place IN (SELECT :place + gone.value FROM json_each(:numbers) AS gone)

-- name: remove_words
DELETE FROM keyword
 WHERE rowid IN (SELECT :place + gone.value FROM json_each(:numbers) AS gone)
