-- Executions are analysed when one in fifty has changed, instead of one in ten: lists by time and numbers of executions are estimated by where
-- the statistics end. It takes a sample, which is no larger with a long history.
ALTER TABLE executions SET (autovacuum_analyze_scale_factor = 0.02);
