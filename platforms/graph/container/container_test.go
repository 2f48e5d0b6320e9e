package container_test

import (
	"testing"

	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Any stored handle identifies its container, or is refused.
func FuzzID(f *testing.F) {
	for _, s := range []string{
		"", "{}",
		`{"main":{"id":"17"},"items":[{"id":"1","done":true}],"created_at":"2026-11-21T20:00:00Z"}`, `{"main":{}}`,
		`{"created_at":7}`, "[]", "null",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		id, err := container.ID(handle)
		if (id == "") == (err == nil) {
			t.Fatalf("%q, %v", id, err)
		}
		if err != nil && network.AsError(err).Code == "" {
			t.Fatalf("%v has no code", err)
		}
	})
}
