-- Large collections are searched by an index where the database has the extension pgvector. Neither table names a type of the extension, so that
-- both are the same in a database without it. What they hold can be made again from vector_items: backups leave it out.
CREATE TABLE vector_indexes (
  organisation_id bigint NOT NULL,
  collection text COLLATE "C" NOT NULL,
  -- The index of PostgreSQL is vector_embeddings_hnsw_<id>, made in the transaction that adds this row. Where it is missing, the extension was lost.
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
  dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
  -- Items that were there before are added in the order of their keys, up to this one so far; null: all of them.
  filled_to text COLLATE "C" DEFAULT '',
  filled integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organisation_id, collection),
  FOREIGN KEY (organisation_id, collection) REFERENCES vector_collections (organisation_id, name) ON DELETE CASCADE
);

-- Beside the items: their rows stay as dense as a search without an index needs them, and the indexes are no burden to other collections.
CREATE TABLE vector_embeddings (
  organisation_id bigint NOT NULL,
  collection text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  index_id bigint NOT NULL,
  embedding real[] NOT NULL,
  PRIMARY KEY (organisation_id, collection, key),
  FOREIGN KEY (organisation_id, collection, key) REFERENCES vector_items (organisation_id, collection, key) ON DELETE CASCADE
);
-- A search reads the index and the keys, never these.
ALTER TABLE vector_embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['vector_indexes', 'vector_embeddings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY organisation ON %I USING (organisation_visible(organisation_id))', t);
  END LOOP;
END $$;

-- 'ready', or why there are no indexes: 'old' (before 0.8, whose scans go on until a filter is satisfied), 'available' (on the server, but not in
-- this database) or 'missing'.
CREATE FUNCTION vector_extension_state() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT CASE WHEN string_to_array(substring(extversion FROM '^[0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8}' THEN 'ready' ELSE 'old' END
     FROM pg_extension WHERE extname = 'vector'),
    (SELECT 'available' FROM pg_available_extensions WHERE name = 'vector'
       AND string_to_array(substring(default_version FROM '^[0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8}'),
    'missing')
$$;

-- Adds the extension if the server has it and the role may. Returns the state afterwards.
CREATE FUNCTION add_vector_extension() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF vector_extension_state() = 'available' THEN
    BEGIN
      CREATE EXTENSION IF NOT EXISTS vector;
    -- Most roles may not, and another process may be doing the same. Everything works without it.
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END IF;
  RETURN vector_extension_state();
END $$;

CREATE FUNCTION has_vector_index(index_id bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relname = 'vector_embeddings_hnsw_' || index_id AND pg_table_is_visible(c.oid) AND i.indisvalid)
$$;

-- The schema of the extension, which need not be in the search path.
CREATE FUNCTION vector_schema() RETURNS name LANGUAGE sql STABLE AS $$
  SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
$$;

-- One index for each collection, so that no search passes through the vectors of another organisation, and none finds less because of them. In half
-- precision it is half as large, and what it finds is compared exactly afterwards.
CREATE FUNCTION make_vector_index(index_id bigint, dimension integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE home name := vector_schema();
BEGIN
  EXECUTE format('CREATE INDEX %I ON vector_embeddings USING hnsw ((embedding::%I.halfvec(%s)) %I.halfvec_ip_ops) WHERE index_id = %s',
    'vector_embeddings_hnsw_' || index_id, home, dimension, home, index_id);
END $$;

CREATE FUNCTION drop_vector_index(index_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP INDEX IF EXISTS %I', 'vector_embeddings_hnsw_' || index_id);
END $$;

-- Candidates of a search, with their vectors as vector_items has them. `filter` is as in vectors-store.ts, which has the same condition.
CREATE FUNCTION find_near_embeddings(of_organisation bigint, of_collection text, target real[], filter jsonb, candidates integer)
RETURNS TABLE (found_key text, found_vector bytea) LANGUAGE plpgsql AS $$
DECLARE
  home name := vector_schema();
  index_row record;
BEGIN
  SELECT * INTO STRICT index_row FROM vector_indexes WHERE organisation_id = of_organisation AND collection = of_collection;
  PERFORM set_config('hnsw.ef_search', least(1000, greatest(40, candidates))::text, true),
    -- Where a filter drops candidates, the scan goes on, as far as that is quicker than to compare everything that the filter lets through. What
    -- it finds is put in order afterwards.
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '5000', true),
    -- The index is what this is for, whatever the statistics say.
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
  RETURN QUERY EXECUTE format($q$
    SELECT n.key, i.vector FROM (
      SELECT e.key FROM vector_embeddings e
      WHERE e.index_id = %s AND e.organisation_id = $1 AND e.collection = $2
        AND ($4 = '[]' OR EXISTS (SELECT FROM vector_items i
          WHERE i.organisation_id = $1 AND i.collection = $2 AND i.key = e.key AND NOT EXISTS (
            SELECT FROM jsonb_array_elements($4) f CROSS JOIN LATERAL (SELECT i.metadata -> (f ->> 'name') AS own) m
            WHERE NOT CASE WHEN jsonb_typeof(own) = 'array'
              THEN EXISTS (SELECT FROM jsonb_array_elements(own) e WHERE f -> 'values' @> jsonb_build_array(e))
              ELSE f -> 'values' @> jsonb_build_array(own) END)))
      ORDER BY e.embedding::%I.halfvec(%s) OPERATOR(%I.<#>) $3::%I.halfvec(%s) LIMIT $5) n
    JOIN vector_items i ON i.organisation_id = $1 AND i.collection = $2 AND i.key = n.key$q$,
    index_row.id, home, index_row.dimension, home, home, index_row.dimension)
  USING of_organisation, of_collection, target, filter, candidates;
END $$;
