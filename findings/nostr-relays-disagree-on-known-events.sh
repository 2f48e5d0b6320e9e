#!/usr/bin/env bash
# Nostr relays: the answer to an event that a relay knows says nothing about whether readers see it.
#
# Guess: NIP-01 lists `["OK", id, true, "duplicate: already have this event"]` for an event that a relay has. So relays answer
# a repeated event with true, and "duplicate:" means that it is public; after its author asked to delete it (NIP-09), both of
# them keep it away.
#
# Seen (rust-nostr's LocalRelay in nostr-sdk 0.45.1, nostr-relay 1.14): the first answers true with "duplicate:", the second
# false with "duplicate: exists". After the deletion the first refuses the same event ("blocked:"), and the second takes it
# like a new one and shows it to everybody again. A client that repeats an event after a lost answer can undo a deletion, and
# has to ask for the event before and after sending.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT
python3 -m venv "$dir/python"
"$dir/python/bin/pip" install --quiet nostr-sdk==0.45.1 nostr-relay==1.14 aiosqlite==0.22.1 websockets==15.0.1 2>"$dir/pip.log" ||
	{ cat "$dir/pip.log"; exit 2; }
cd "$dir"
cat >relay.yaml <<'YAML'
storage:
  sqlalchemy.url: sqlite+aiosqlite:///relay.sqlite3
  validators: [nostr_relay.validators.is_signed]
gunicorn: { bind: "127.0.0.1:18942", workers: 1 }
YAML
"$dir/python/bin/nostr-relay" -c relay.yaml serve >relay.log 2>&1 &
"$dir/python/bin/python" - <<'PY' | tee seen.txt
import asyncio, json, websockets
from nostr_sdk import EventBuilder, Keys, Kind, LocalRelayBuilder, Tag

async def answer(address, *message):
    """Sends a message and returns the answer; of a request, how many events match."""
    async with websockets.connect(address) as relay:
        await relay.send(json.dumps(message))
        found = 0
        while True:
            got = json.loads(await asyncio.wait_for(relay.recv(), 10))
            if got[0] == "OK":
                return "true" if got[2] else "false", got[3].partition(":")[0]
            if got[0] == "EVENT":
                found += 1
            if got[0] == "EOSE":
                return found

async def main():
    local = LocalRelayBuilder().port(18941).build()
    await local.run()
    for _ in range(100):
        try:
            await answer("ws://127.0.0.1:18942", "REQ", "a", {"ids": ["0" * 64]})
            break
        except OSError:
            await asyncio.sleep(.3)
    keys = Keys.generate()
    note = EventBuilder(Kind(1), "Triều cường lên cao").finalize(keys)
    deletion = EventBuilder(Kind(5), "").tags([Tag.parse(["e", note.id().to_hex()])]).finalize(keys)
    for name, port in (("LocalRelay", 18941), ("nostr-relay", 18942)):
        async def send(event):
            return await answer(f"ws://127.0.0.1:{port}", "EVENT", json.loads(event.as_json()))
        assert (await send(note))[0] == "true"
        again = await send(note)
        assert (await send(deletion))[0] == "true"
        after = await send(note)
        shown = await answer(f"ws://127.0.0.1:{port}", "REQ", "a", {"ids": [note.id().to_hex()]})
        print(name, "again:", *again, "after the deletion:", *after, "shown:", shown)

asyncio.run(main())
PY
diff seen.txt - <<'SEEN' || { echo "changed"; exit 1; }
LocalRelay again: true duplicate after the deletion: false blocked shown: 0
nostr-relay again: false duplicate after the deletion: true  shown: 1
SEEN
