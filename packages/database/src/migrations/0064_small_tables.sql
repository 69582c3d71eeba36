-- A table without statistics counts as one of ten pages, of which rows are found by an index. With statistics of one or two pages, all of it would be read,
-- and a kept plan still reads all of it once a burst has filled it, until the next analysis.
ALTER TABLE executions SET (autovacuum_analyze_threshold = 5000);
ALTER TABLE idempotency_records SET (autovacuum_analyze_threshold = 5000);
