-- A workflow may have several triggers, and an approval fields. Processes of the previous release know only `trigger_type`, the type of the first.

-- The types of the triggers after the first one, for look-ups by public addresses.
ALTER TABLE workflows ADD COLUMN other_triggers text[] NOT NULL DEFAULT '{}';

-- The trigger that fired; null while the workflow has one schedule, whose row the previous release may have written.
ALTER TABLE schedule_fires ADD COLUMN node_id text;

-- Each trigger polls on its own. Rows that exist are those of the first trigger of the saved version.
ALTER TABLE polls ADD COLUMN node_id text;
ALTER TABLE polled_items ADD COLUMN node_id text;

UPDATE polls p SET node_id = coalesce((
  SELECT n ->> 'id' FROM workflows w
  JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version,
    json_array_elements(v.flow_data -> 'nodes') WITH ORDINALITY AS t (n, place)
  WHERE w.id = p.workflow_id AND n ->> 'type' = w.trigger_type
  ORDER BY place LIMIT 1), '');

UPDATE polled_items i SET node_id = p.node_id FROM polls p WHERE p.workflow_id = i.workflow_id;

ALTER TABLE polled_items DROP CONSTRAINT polled_items_workflow_id_fkey;
ALTER TABLE polled_items DROP CONSTRAINT polled_items_pkey;
ALTER TABLE polls DROP CONSTRAINT polls_pkey;
ALTER TABLE polls ALTER COLUMN node_id SET NOT NULL;
ALTER TABLE polled_items ALTER COLUMN node_id SET NOT NULL;
ALTER TABLE polls ADD CONSTRAINT polls_pkey PRIMARY KEY (workflow_id, node_id);
ALTER TABLE polled_items ADD CONSTRAINT polled_items_pkey PRIMARY KEY (workflow_id, node_id, item_hash);
ALTER TABLE polled_items ADD CONSTRAINT polled_items_workflow_id_node_id_fkey
  FOREIGN KEY (workflow_id, node_id) REFERENCES polls (workflow_id, node_id) ON DELETE CASCADE;

-- What a decision is asked for besides the choice, and what was entered: null for nothing.
ALTER TABLE callbacks ADD COLUMN fields json;
ALTER TABLE callbacks ADD COLUMN answers json;
