// Package workflows decides, durably. It does no input or output: that is what
// package activities is for.
//
// The Post workflow, one per post (its id is post/<post id>):
//
//	        ┌───────────── changed, edit, publish_now ──────────────┐
//	        ▼                                                       │
//	read the post ──► wait until ten minutes ──► wait until just ───┘
//	 ▲   ▲   │        before, then upload        before its time ─── cancel ─► end
//	 │   │   │        what is attached                │ timer
//	 │   │   │                                        ▼
//	 │   └───┼──────────────────────── publish every target (activity: ready,
//	 │       │  all targets answered,     wait, claim, send, next segment)
//	 │       │  or the post had changed
//	 │       ▼ nothing to publish
//	 │     dead letters? ── no ─► end
//	 │       │ yes
//	 │       ▼
//	 └──── park: retry, edit, discard, changed
//	         └─ 30 days, or the workflow is canceled ─► end
//
// A post to a single account does not wait for its time itself: it starts to
// publish at once, and the activity waits at Temporal (activities/defer.go).
//
// While it publishes, signals are answered, and a change of the post calls off
// targets that wait for another try. A round that ends without an answer for
// every target is repeated after a pause that grows.
//
// The row in scheduled_posts decides, not the workflow: every change of state
// is a guarded statement on it, and what a workflow believes is checked there
// before anything irreversible.
package workflows
