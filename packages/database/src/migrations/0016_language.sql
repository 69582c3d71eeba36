-- What somebody chose to read the admin area in; null: whatever their browser asks for.
ALTER TABLE users ADD COLUMN language text CHECK (language IN ('en', 'ja'));
