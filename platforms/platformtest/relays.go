package platformtest

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// relayScript serves two relays of nostr-sdk; only accounts that log in can write to the second.
const relayScript = `
import asyncio, sys
from nostr_sdk import *

async def main():
    login = LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.WRITE)
    relays = [  # a relay ends when nothing refers to it
        LocalRelayBuilder().port(int(sys.argv[1])).build(),
        LocalRelayBuilder().port(int(sys.argv[2])).nip42(login).build(),
    ]
    for relay in relays:
        await relay.run()
    await asyncio.Event().wait()

asyncio.run(main())
`

// freePorts returns ports on which nothing listens.
func freePorts(t *testing.T, count int) (ports []string) {
	t.Helper()
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() //nolint:errcheck // all at the end, so that they differ
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

// StartRelays starts three real Nostr relays that answer differently, and returns their hosts.
// python has nostr-sdk 0.45.1 and nostr-relay 1.14.
func StartRelays(t *testing.T, python string) []string {
	t.Helper()
	dir := t.TempDir()
	ports := freePorts(t, 3)
	first, second, third := ports[0], ports[1], ports[2]
	config := "storage:\n  sqlalchemy.url: sqlite+aiosqlite:///relay.sqlite3\n  validators:\n" +
		"    - nostr_relay.validators.is_signed\ngunicorn:\n  bind: 127.0.0.1:" + third + "\n  workers: 1\n" +
		"purple:\n  host: 127.0.0.1\n  port: " + third + "\n  workers: 1\n"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "relay.py"), []byte(relayScript), 0o600),
		os.WriteFile(filepath.Join(dir, "relay.yaml"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	Background(t, dir, nil, python, "relay.py", first, second)
	Background(t, dir, nil, filepath.Join(filepath.Dir(python), "nostr-relay"), "-c", "relay.yaml", "serve")
	var hosts []string
	for _, port := range ports {
		hosts = append(hosts, "127.0.0.1:"+port)
		AwaitServer(t, "tcp", hosts[len(hosts)-1])
	}
	return hosts
}

// LoseConnections starts a proxy that cuts connections at any time, before or after the relay got a message,
// and delays answers.
func LoseConnections(t *testing.T, host string) (address string, lost *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	lost = &atomic.Int64{}
	forward := func(to, from net.Conn, late time.Duration) {
		defer to.Close()   //nolint:errcheck // a test
		defer from.Close() //nolint:errcheck // a test
		for buffer := make([]byte, 64<<10); ; {
			n, err := from.Read(buffer)
			switch rand.IntN(40) { //nolint:gosec // a test
			case 0:
				lost.Add(1)
				return
			case 1:
				time.Sleep(late)
			}
			if _, writeErr := to.Write(buffer[:n]); err != nil || writeErr != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", host)
			if err != nil {
				_ = client.Close()
				continue
			}
			go forward(server, client, 0)
			go forward(client, server, 1200*time.Millisecond)
		}
	}()
	return listener.Addr().String(), lost
}

// NotesAt returns the ids of all notes on Nostr relays, by their text.
func NotesAt(t *testing.T, hosts []string) map[string]map[string]bool {
	t.Helper()
	notes := map[string]map[string]bool{}
	for _, host := range hosts {
		c, _, err := websocket.Dial(t.Context(), "ws://"+host, nil)
		if err == nil {
			c.SetReadLimit(1 << 20)
			err = c.Write(t.Context(), websocket.MessageText, []byte(`["REQ","all",{"kinds":[1],"limit":5000}]`))
		}
		for err == nil {
			var raw []byte
			if _, raw, err = c.Read(t.Context()); err != nil {
				break
			}
			var values []json.RawMessage
			var e struct{ ID, Content string }
			if json.Unmarshal(raw, &values) != nil || string(values[0]) == `"EOSE"` {
				break
			}
			if len(values) < 3 || json.Unmarshal(values[2], &e) != nil {
				continue
			}
			if notes[e.Content] == nil {
				notes[e.Content] = map[string]bool{}
			}
			notes[e.Content][e.ID] = true
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = c.CloseNow()
	}
	return notes
}
