#!/bin/sh
# Creates the bucket with the key that Dateline uses, which also verifies the key.
# Safe to run again.
set -eu

: "${S3_ENDPOINT:?set it to the S3 server, such as http://s3:8333}"
: "${S3_BUCKET:?set it to the name of the bucket}"
: "${S3_REGION:?set it to the region, such as us-east-1}"
: "${S3_ACCESS_KEY:?set it to the access key}"
: "${S3_SECRET_KEY:?set it to the secret key}"

# SHA-256 of nothing: neither request has a body. S3 wants the hash as a header,
# which not every version of curl adds by itself.
empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855

# status ARGUMENTS... sends a signed request for the bucket and prints the HTTP
# status. The key goes in through standard input, not through the arguments.
status() {
	curl --silent --show-error --output /dev/null --write-out '%{http_code}' \
		--max-time 10 --aws-sigv4 "aws:amz:$S3_REGION:s3" --config - \
		--header "x-amz-content-sha256: $empty" "$@" "$S3_ENDPOINT/$S3_BUCKET" <<CONFIG
user = "$S3_ACCESS_KEY:$S3_SECRET_KEY"
CONFIG
}

attempt=1
while :; do
	# 409: it exists. Whether it is ours shows in the second request.
	made=$(status --request PUT) || made=none
	found=$(status --head) || found=none
	if [ "$found" = 200 ]; then
		echo "Bucket $S3_BUCKET is ready."
		exit 0
	fi
	if [ "$attempt" -ge 30 ]; then
		echo "Bucket $S3_BUCKET cannot be used: making it gave HTTP $made, looking for it gave HTTP $found." >&2
		exit 1
	fi
	attempt=$((attempt + 1))
	sleep 2
done
