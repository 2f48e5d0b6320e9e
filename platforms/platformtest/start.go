package platformtest

import (
	"net/http"
	"testing"

	"dateline/platforms/call"
	"dateline/platforms/fake"
)

// StartFake starts the fake networks for one test.
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

// AddAccount creates an account at a fake network.
func AddAccount(t testing.TB, server *fake.Server, a fake.Account) fake.Account {
	t.Helper()
	created, err := server.Add(a)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// Client returns an HTTP client that can reach the fake networks of StartFake.
func Client(t testing.TB) *http.Client {
	t.Helper()
	client, err := call.NewClient([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}
