-- Concurrently, statement by statement, so that processes go on writing while a long history is indexed.
-- By id instead of -id: row-level security comes before conditions on -id, so retention read all that stays to find what has expired. Whoever
-- wants this index asks for the order (status, id), which no other one has of a workflow. What an interrupted attempt left is made again.
DROP INDEX CONCURRENTLY IF EXISTS executions_of_workflow_by_status;
CREATE INDEX CONCURRENTLY executions_of_workflow_by_status ON executions (workflow_id, status, id) WHERE status <> 'running';
DROP INDEX CONCURRENTLY IF EXISTS executions_by_workflow_and_status;
