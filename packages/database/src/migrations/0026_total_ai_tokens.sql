-- What an execution consumed with all below it, out of what it consumed itself. A function that returns a set, asked in a
-- FROM: so PostgreSQL puts its text into the statement, and a list costs what it cost with the text written out.
CREATE FUNCTION total_ai_tokens(execution bigint, own bigint) RETURNS SETOF bigint LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT own + coalesce(sum(tokens), 0)::bigint FROM execution_child_tokens WHERE execution_id = execution;
END;
