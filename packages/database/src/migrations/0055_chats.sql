-- Conversations on hosted chat pages. The browser holds the session's secret; only its hash is stored.
CREATE TABLE chat_sessions (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  session_hash bytea NOT NULL CHECK (octet_length(session_hash) = 32),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  turns integer NOT NULL DEFAULT 0 CHECK (turns >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, session_hash)
);
CREATE INDEX chat_sessions_by_age ON chat_sessions (last_at);
-- Pages count the sessions of a workflow that began lately.
CREATE INDEX chat_sessions_by_start ON chat_sessions (workflow_id, created_at);

-- A message and what became of it. The key of the message makes it start one execution, however often it is sent.
CREATE TABLE chat_turns (
  workflow_id bigint NOT NULL,
  session_hash bytea NOT NULL,
  number integer NOT NULL CHECK (number >= 1),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  message_hash bytea NOT NULL CHECK (octet_length(message_hash) = 32),
  execution_id bigint NOT NULL,
  message text NOT NULL CHECK (octet_length(message) <= 65536),
  -- NULL while the execution runs.
  outcome text CHECK (outcome IN ('answered', 'failed')),
  answer text CHECK (octet_length(answer) <= 262144),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, session_hash, number),
  UNIQUE (workflow_id, session_hash, message_hash),
  FOREIGN KEY (workflow_id, session_hash) REFERENCES chat_sessions ON DELETE CASCADE,
  CHECK ((outcome IS NULL) = (answer IS NULL))
);
CREATE INDEX chat_turns_by_execution ON chat_turns (execution_id);

-- What a node has written so far, for the page that waits for it. It is of no use after a crash: the answer is in the execution.
CREATE UNLOGGED TABLE chat_streams (
  execution_id bigint PRIMARY KEY,
  organisation_id bigint NOT NULL,
  -- Nodes whose text the visitor may see.
  node_ids text[] NOT NULL,
  -- The attempt of a node that writes.
  writer text,
  text text NOT NULL DEFAULT '' CHECK (octet_length(text) <= 262144),
  written_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX chat_streams_by_age ON chat_streams (written_at);

-- What models remember of conversations, by the key that a node names.
CREATE TABLE ai_memories (
  workflow_id bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
  organisation_id bigint NOT NULL REFERENCES organisations ON DELETE CASCADE,
  -- What was said last: a list of turns, oldest first.
  turns json NOT NULL,
  -- Of what was said before; NULL without one.
  summary text,
  bytes integer NOT NULL CHECK (bytes BETWEEN 0 AND 524288),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, key)
);
CREATE INDEX ai_memories_by_expiry ON ai_memories (expires_at);
CREATE INDEX ai_memories_of_organisation ON ai_memories (organisation_id, updated_at);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['chat_sessions', 'chat_turns', 'chat_streams', 'ai_memories'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION forget_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM callbacks r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_checkpoints r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_follow_ups r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM execution_signals r USING gone WHERE r.execution_id = gone.id;
  DELETE FROM chat_turns r USING gone WHERE r.execution_id = gone.id;
  RETURN NULL;
END $$;
