#!/bin/sh
# Creates one login role for Dateline and one for Temporal, and the databases that
# each owns. Neither can create roles or databases, or connect to the other's.
# Safe to run again: it also sets the passwords to those of the environment.
set -eu

: "${DATELINE_DB_PASSWORD:?set it to the password of the role dateline}"
: "${TEMPORAL_DB_PASSWORD:?set it to the password of the role temporal}"

# psql reads the passwords from the environment, so that they appear neither in
# its arguments nor in this script's trace.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres <<'SQL'
\getenv dateline_password DATELINE_DB_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD

SELECT format('CREATE ROLE %I', name)
FROM (VALUES ('dateline'), ('temporal')) AS wanted (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

ALTER ROLE dateline LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'dateline_password';
ALTER ROLE temporal LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'temporal_password';

SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE template0 ENCODING ''UTF8''', name, owner)
FROM (VALUES ('dateline', 'dateline'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal')) AS wanted (name, owner)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name)
\gexec

REVOKE ALL ON DATABASE dateline, temporal, temporal_visibility, postgres, template1 FROM PUBLIC;
SQL
echo "Roles and databases are ready."
