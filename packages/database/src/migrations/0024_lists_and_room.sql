-- A workflow's executions of one status, for lists and for pruning, however few there are of them beside the others. What a
-- worker takes at once is stored as running and pays nothing here before it ends. By -id, an order that no other index
-- has: whoever asks for it gets this one.
CREATE INDEX executions_by_workflow_and_status ON executions (workflow_id, status, (-id)) WHERE status <> 'running';

-- Written now and then, and deleted by the next one, to know whether anything can be written. A row fills a page and is
-- not compressed, so that it needs room on the disk.
CREATE TABLE write_probes (
  written_at timestamptz NOT NULL DEFAULT now(),
  filler text NOT NULL
);
ALTER TABLE write_probes ALTER COLUMN filler SET STORAGE PLAIN;
