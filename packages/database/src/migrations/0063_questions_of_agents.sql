-- A node may ask several questions, one after the other: an agent asks before it calls certain tools. Empty: the node's only one.
ALTER TABLE callbacks ADD COLUMN question text NOT NULL DEFAULT '' CHECK (octet_length(question) <= 200);
