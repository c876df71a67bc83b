-- compatible: yes
-- No statement of this release or the previous one uses these: bookmark_of_older_form has all that
-- bookmark_reworded has, and bookmark_without_pictures all that bookmark_without_traits has.
DROP INDEX bookmark_reworded;
DROP INDEX bookmark_without_traits;
