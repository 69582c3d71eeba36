-- What an organisation is given of the workers' slots, compared to others. Few differ from the usual share; workers read those.
ALTER TABLE organisations
  ADD COLUMN slot_weight integer NOT NULL DEFAULT 1 CHECK (slot_weight BETWEEN 1 AND 100),
  ADD COLUMN slot_cap_percent integer NOT NULL DEFAULT 100 CHECK (slot_cap_percent BETWEEN 1 AND 100);
CREATE INDEX organisations_with_own_share ON organisations (id) WHERE slot_weight <> 1 OR slot_cap_percent <> 100;
