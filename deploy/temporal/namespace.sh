#!/bin/sh
# Creates Dateline's namespace and its search attributes, and returns only when
# they can be used. Safe to run again. The temporal command reads
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE from the environment.
set -eu

: "${TEMPORAL_ADDRESS:?set it to the frontend, such as temporal:7233}"
: "${TEMPORAL_NAMESPACE:?set it to the name of the namespace}"
: "${TEMPORAL_RETENTION:?set it to how long closed workflows are kept, such as 168h}"

# retry WHAT COMMAND... runs the command until it succeeds, for two minutes.
retry() {
	what=$1
	shift
	attempt=1
	until output=$("$@" 2>&1); do
		if [ "$attempt" -ge 60 ]; then
			echo "$what failed: $output" >&2
			exit 1
		fi
		attempt=$((attempt + 1))
		sleep 2
	done
	echo "$what: done"
}

namespace() {
	temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
		temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
}

# Existing attributes are left alone; one of another type is an error. Ids are
# Keyword: Text is split into words and loses exact lookups.
search_attributes() {
	temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
		--name PostStatus --type Keyword \
		--name Platform --type Keyword \
		--name AccountID --type Keyword \
		--name Domain --type Keyword \
		--name PublishAt --type Datetime
}

# The server caches namespaces and attributes; workers that start before the
# cache knows them would fail their first workflow tasks.
searchable() {
	temporal workflow list --namespace "$TEMPORAL_NAMESPACE" --limit 1 --query \
		"PostStatus = 'x' AND Platform = 'x' AND AccountID = 'x' AND Domain = 'x' AND PublishAt > '2000-01-01T00:00:00Z'"
}

retry "Waiting for Temporal" temporal operator cluster health
retry "Namespace $TEMPORAL_NAMESPACE" namespace
retry "Search attributes" search_attributes
retry "Searching by them" searchable
