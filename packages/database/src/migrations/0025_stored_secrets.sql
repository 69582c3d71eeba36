-- Which secret fields of a credential hold a value: encrypted, that cannot be seen. Null for those stored before.
ALTER TABLE credentials ADD COLUMN stored_secrets text[];
