package platformtest

import (
	"net/http"
	"testing"

	"dateline/platforms/call"
	"dateline/platforms/fake"
)

// StartFake starts the sandbox's networks for one test.
func StartFake(t testing.TB, options fake.Options) *fake.Server {
	t.Helper()
	server, err := fake.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// AddAccount makes an account at a fake network.
func AddAccount(t testing.TB, server *fake.Server, a fake.Account) fake.Account {
	t.Helper()
	made, err := server.Add(a)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Client reaches the networks that StartFake starts.
func Client(t testing.TB) *http.Client {
	t.Helper()
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}
