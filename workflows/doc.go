// Package workflows contains Dateline's Temporal workflows: durable decisions
// without input or output, which package activities does.
//
// The Post workflow, one per post (its id is post/<post id>):
//
//	        ┌───────────── changed, edit, publish_now ──────────────┐
//	        ▼                                                       │
//	read the post ──► wait until ten minutes ──► wait until just ───┘
//	 ▲   ▲   │        before, then upload        before its time ─── cancel ─► end
//	 │   │   │        what is attached                │ timer
//	 │   │   │                                        ▼
//	 │   └───┼──────────────────────── publish every target (activity: prepare,
//	 │       │  all targets have a        wait, claim, send, next segment)
//	 │       │  result, or it changed
//	 │       ▼ nothing to publish
//	 │     dead letters? ── no ─► end
//	 │       │ yes
//	 │       ▼
//	 └──── park: retry, edit, discard, changed
//	         └─ 30 days, or the workflow is canceled ──► end
//
// next decides every step from the post, what has happened and the time, without
// Temporal; post.go executes the steps, and round.go publishes once to every target.
//
// A workflow that is started with a new post begins with PostInput.View and reads the
// post only after a change.
//
// The workflow of a post to a single account does not wait for the post's time: it
// starts the activity at once, which waits at Temporal (delivery.NotDueError).
//
// While it publishes, it handles signals, and a change of the post cancels targets
// that wait for another attempt. A round that ends without a result for every
// target is repeated with growing backoff.
//
// The row in scheduled_posts decides, not the workflow: every change of state is a
// guarded statement on it, which checks the workflow's view before anything
// irreversible.
package workflows
