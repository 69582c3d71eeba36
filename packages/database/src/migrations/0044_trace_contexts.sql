-- The trace that an execution belongs to, as the header that started it said or the node of its parent: W3C Trace Context (ADR 0049).
-- Null without tracing, and for what nothing outside started.
ALTER TABLE executions ADD COLUMN traceparent text;
