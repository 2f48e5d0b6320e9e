package cli

import (
	"errors"
	"slices"
	"testing"
)

func TestCloser_ClosesInReverseOrder(t *testing.T) {
	var c closer
	var closed []string
	failure := errors.New("connection lost")
	c.pushFunc("database", func() { closed = append(closed, "database") })
	c.push("cache", func() error { closed = append(closed, "cache"); return failure })
	c.pushFunc("server", func() { closed = append(closed, "server") })
	if err := c.close(); !errors.Is(err, failure) || err.Error() != "closing the cache: connection lost" {
		t.Errorf("close: got %v, want the error of the cache", err)
	}
	if want := []string{"server", "cache", "database"}; !slices.Equal(closed, want) {
		t.Errorf("closed: got %v, want %v", closed, want)
	}
	if err := c.close(); err != nil || len(closed) != 3 {
		t.Errorf("second close: got %v and %v, want no effect", err, closed)
	}
}
