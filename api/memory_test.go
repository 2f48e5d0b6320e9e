package api_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"dateline/api"
)

// A server has 20 MB of tables. The servers of tests that have ended take no memory, although
// package testing still references what they registered with Cleanup.
func TestStart_ReleasesTheServerAfterItsTest(t *testing.T) {
	t.Parallel()
	var ended weak.Pointer[api.Server]
	t.Cleanup(func() { // after the parallel test, which is referenced as long as this one runs
		for range 50 {
			if runtime.GC(); ended.Value() == nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // connections end
		}
		t.Error("the server is still in memory")
	})
	t.Run("ended", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(s *api.Server) { ended = weak.Make(s) })
		s.Connect("desk")
		s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	})
}
