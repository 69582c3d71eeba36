-- What an execution consumed goes to all executions above it when it ends, whether or not they wait for it or have ended
-- themselves: one row for each, so that no row of theirs is written or locked.
CREATE TABLE execution_child_tokens (
  execution_id bigint NOT NULL,
  -- The child, or a child of a child.
  child_id bigint NOT NULL,
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- The node of the execution by which it was started; null for one inside a loop, whose runs are many.
  node_id text,
  tokens bigint NOT NULL CHECK (tokens > 0),
  PRIMARY KEY (execution_id, child_id)
);

ALTER TABLE execution_child_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE execution_child_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY organisation ON execution_child_tokens USING (organisation_visible(organisation_id));

CREATE FUNCTION count_child_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  below record := NEW;
  above record;
BEGIN
  WHILE below.parent_execution_id IS NOT NULL LOOP
    SELECT id, parent_execution_id, parent_node_id, parent_iteration INTO above
    FROM executions WHERE id = below.parent_execution_id;
    EXIT WHEN NOT FOUND;
    INSERT INTO execution_child_tokens (execution_id, child_id, organisation_id, node_id, tokens)
    VALUES (above.id, NEW.id, NEW.organisation_id,
      CASE WHEN cardinality(below.parent_iteration) = 0 THEN below.parent_node_id END, NEW.consumed_ai_tokens);
    below := above;
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER executions_count_child_tokens AFTER UPDATE ON executions FOR EACH ROW
  WHEN (NEW.completed_at IS NOT NULL AND OLD.completed_at IS NULL AND NEW.parent_execution_id IS NOT NULL
    AND NEW.consumed_ai_tokens > 0)
  EXECUTE FUNCTION count_child_tokens();

-- Instead of a foreign key, which would make the end of a child wait for whoever holds its parent's row.
CREATE FUNCTION forget_child_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM execution_child_tokens t USING gone WHERE t.execution_id = gone.id;
  RETURN NULL;
END $$;

CREATE TRIGGER executions_forget_child_tokens AFTER DELETE ON executions REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION forget_child_tokens();

INSERT INTO execution_child_tokens (execution_id, child_id, organisation_id, node_id, tokens)
WITH RECURSIVE up AS (
  SELECT id AS child_id, organisation_id, consumed_ai_tokens AS tokens, parent_execution_id, parent_node_id, parent_iteration
  FROM executions
  WHERE parent_execution_id IS NOT NULL AND completed_at IS NOT NULL AND consumed_ai_tokens > 0
  UNION ALL
  SELECT up.child_id, up.organisation_id, up.tokens, e.parent_execution_id, e.parent_node_id, e.parent_iteration
  FROM up JOIN executions e ON e.id = up.parent_execution_id
  WHERE e.parent_execution_id IS NOT NULL
)
SELECT up.parent_execution_id, up.child_id, up.organisation_id,
  CASE WHEN cardinality(up.parent_iteration) = 0 THEN up.parent_node_id END, up.tokens
FROM up JOIN executions e ON e.id = up.parent_execution_id;
