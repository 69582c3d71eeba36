-- The first steps are what happened: only whether a person still wants to see them is stored.
ALTER TABLE users ADD COLUMN shows_first_steps boolean NOT NULL DEFAULT false;

-- The template that a workflow was made from; null: none.
ALTER TABLE workflows ADD COLUMN template_id text CHECK (char_length(template_id) BETWEEN 1 AND 100);
CREATE INDEX workflows_from_templates ON workflows (organisation_id, template_id) WHERE template_id IS NOT NULL;
