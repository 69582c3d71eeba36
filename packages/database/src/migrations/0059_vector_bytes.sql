-- What a collection takes up and when it was last written, for the page that lists them: adding up its items would read all of their vectors.
ALTER TABLE vector_collections
  ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

UPDATE vector_collections v SET bytes = c.bytes, updated_at = c.updated_at
FROM (SELECT o.organisation_id, o.name, coalesce(sum(i.bytes), 0) AS bytes, coalesce(max(i.updated_at), o.created_at) AS updated_at
      FROM vector_collections o
        LEFT JOIN vector_items i ON i.organisation_id = o.organisation_id AND i.collection = o.name
      GROUP BY o.organisation_id, o.name) c
WHERE v.organisation_id = c.organisation_id AND v.name = c.name;

-- The collection first: whoever writes has locked it, and then waits for the organisation's count.
CREATE OR REPLACE FUNCTION count_vector_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE vector_collections v SET bytes = v.bytes + c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM changed GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    INSERT INTO data_usage (organisation_id, entries, bytes)
    SELECT organisation_id, 0, sum(bytes) FROM changed GROUP BY organisation_id ORDER BY organisation_id
    ON CONFLICT (organisation_id) DO UPDATE SET bytes = data_usage.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE vector_collections v SET bytes = v.bytes - c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM former GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    UPDATE data_usage u SET bytes = u.bytes - c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM former GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id;
  ELSE
    UPDATE vector_collections v SET bytes = v.bytes + c.bytes, updated_at = now()
    FROM (SELECT organisation_id, collection, sum(bytes) AS bytes FROM (
        SELECT organisation_id, collection, bytes FROM changed
        UNION ALL SELECT organisation_id, collection, -bytes FROM former) s
      GROUP BY organisation_id, collection) c
    WHERE v.organisation_id = c.organisation_id AND v.name = c.collection;
    UPDATE data_usage u SET bytes = u.bytes + c.bytes
    FROM (SELECT organisation_id, sum(bytes) AS bytes FROM (
        SELECT organisation_id, bytes FROM changed
        UNION ALL SELECT organisation_id, -bytes FROM former) s
      GROUP BY organisation_id) c
    WHERE u.organisation_id = c.organisation_id AND c.bytes <> 0;
  END IF;
  RETURN NULL;
END $$;
