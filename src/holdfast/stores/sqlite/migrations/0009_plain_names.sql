-- Names of version 0.1.0 that a person sees. JSON escapes a quote inside a text, so only names can match here.

-- The record ids of hook events begin with `hook:`, not `letter:`. The range is served by the index.
update messages
   set id        = substr(id, 1, length(id) - length(record_id)) || 'hook:' || substr(record_id, 8),
       record_id = 'hook:' || substr(record_id, 8),
       data      = replace(data, '"record":"letter:', '"record":"hook:')
 where record_id >= 'letter:'
   and record_id < 'letter;'
   and origin <> 'record';

-- How far a session is indexed: the record and the place of its last passage.
update cursors
   set cursor = '["hook:' || substr(cursor, 10)
 where source >= 'index/'
   and source < 'index0'
   and substr(cursor, 1, 9) = '["letter:';

-- Text that Holdfast injected.
update messages
   set origin = 'holdfast',
       data   = replace(data, '"origin":"ours"', '"origin":"holdfast"')
 where origin = 'ours';

-- The same record ids in what a session waits for and has seen, and the window that its harness reported.
update sessions
   set metadata = replace(
           replace(metadata, '"record":"letter:', '"record":"hook:'), '"told":', '"reported_window":'
       );
