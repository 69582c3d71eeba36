-- Names with characters that cannot be seen or turn the text round are refused (names.ts); those that are there show
-- U+FFFD in their place, so that what is read can be sent back unchanged.
CREATE FUNCTION pg_temp.visible(name text) RETURNS text LANGUAGE sql IMMUTABLE RETURN regexp_replace(
  name,
  '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180E'
    || '\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F'
    || '\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E00FF\U000E01F0-\U000E0FFF]'
    || '|(?<![\u0600-\u0DFF\u1000-\u109F\u1780-\u18AF\u2190-\u2BFF\uFE0F\U0001F000-\U0001FAFF])[\u200C\u200D]'
    || '|[\u200C\u200D](?![\u0600-\u0DFF\u1000-\u109F\u1780-\u18AF\u2190-\u2BFF\uFE0F\U0001F000-\U0001FAFF])',
  U&'\FFFD', 'g');

UPDATE workflows SET name = pg_temp.visible(name) WHERE name <> pg_temp.visible(name);
UPDATE api_keys SET name = pg_temp.visible(name) WHERE name <> pg_temp.visible(name);
UPDATE users SET name = pg_temp.visible(name) WHERE name <> pg_temp.visible(name);
-- These are unique, so the id is added where another has the name already.
UPDATE organisations o SET name = CASE
    WHEN EXISTS (SELECT FROM organisations x WHERE x.id <> o.id AND pg_temp.visible(x.name) = pg_temp.visible(o.name))
    THEN left(pg_temp.visible(o.name), 230) || ' ' || o.id ELSE pg_temp.visible(o.name) END
WHERE name <> pg_temp.visible(name);
UPDATE credentials c SET name = CASE
    WHEN EXISTS (SELECT FROM credentials x WHERE x.organisation_id = c.organisation_id AND x.id <> c.id
      AND pg_temp.visible(x.name) = pg_temp.visible(c.name))
    THEN left(pg_temp.visible(c.name), 230) || ' ' || c.id ELSE pg_temp.visible(c.name) END
WHERE name <> pg_temp.visible(name);
DROP FUNCTION pg_temp.visible(text);
