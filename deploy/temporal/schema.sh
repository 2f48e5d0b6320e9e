#!/bin/sh
# Migrates Temporal's two databases to the schema of this server version.
# postgres-roles creates the databases; the role may not.
# Connection settings come from SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and
# SQL_PLUGIN, which temporal-sql-tool reads from the environment.
set -eu

versions=/etc/temporal/schema/postgresql/v12

update() {
	database=$1
	schema=$2
	# Does nothing where the version tables are there already.
	temporal-sql-tool --db "$database" setup-schema -v 0.0
	temporal-sql-tool --db "$database" update-schema -d "$versions/$schema/versioned"
}

update temporal temporal
update temporal_visibility visibility
echo "Temporal's schema is up to date."
