// Package workflows decides, durably. It does no input or output: that is what
// package activities is for.
//
// The Post workflow, one per post (its id is post/<post id>):
//
//	        ┌──────── changed, edit, publish_now ────────┐
//	        ▼                                            │
//	read the post ──► wait until just before its time ───┘
//	   ▲    │                 │         └─ cancel ─► end
//	   │    │ final           ▼ timer
//	   │    ▼          publish every target (activity: ready, wait, claim, send)
//	   │   end                │
//	   └──────────────────────┘ all targets answered, or the post had changed
//
// While it publishes, signals are answered, and a change of the post calls off
// targets that wait for another try. A round that ends without an answer for
// every target is repeated after a pause that grows.
//
// The row in scheduled_posts decides, not the workflow: every change of state
// is a guarded statement on it, and what a workflow believes is checked there
// before anything irreversible.
package workflows
