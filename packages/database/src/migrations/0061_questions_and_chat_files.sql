-- A node may ask several questions, one after the other: an agent asks before it calls certain tools. Empty: the node's only one.
ALTER TABLE callbacks ADD COLUMN question text NOT NULL DEFAULT '' CHECK (octet_length(question) <= 200);

-- What came with a message of a chat, as `{name, size}`, and what its answer has for the visitor, as `{id, name, type, size}`.
ALTER TABLE chat_turns
  ADD COLUMN files json CHECK (octet_length(files::text) <= 16384),
  ADD COLUMN answer_files json CHECK (octet_length(answer_files::text) <= 16384);
