-- compatible: yes
-- Notes, highlights and deleted Smart Views are kept with their change from now on. The tables stay,
-- because nodes of the previous release use them.
DELETE FROM replaced_annotation;
DELETE FROM deleted_view;
