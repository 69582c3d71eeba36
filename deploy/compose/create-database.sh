#!/bin/bash
# Run once by PostgreSQL's image, on an empty volume. An ordinary role owns the database: PostgreSQL doesn't enforce the separation of
# organisations for superusers.
set -euo pipefail

psql --username postgres --no-psqlrc --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE millrace LOGIN PASSWORD :'password';
CREATE DATABASE millrace OWNER millrace;
SQL
