-- Nothing of a paused organisation runs or is started. Few are; statements look at those.
ALTER TABLE organisations ADD COLUMN paused_at timestamptz;
CREATE INDEX organisations_paused ON organisations (id) WHERE paused_at IS NOT NULL;
