// Package delivery publishes due posts to networks: on time, once, and with
// every lost response resolved.
//
// The package does not know Temporal. The activities adapt it: they pass an
// Attempt, and turn NotDueError, RetryError and PermanentError into Temporal's.
//
// The path of one target, from due to posted:
//
//	workflow      activity       Publisher       Postgres        Redis, host     network
//	   |              |               |              |                |              |
//	   |- dispatch -->|-- Publish --->|              |                |              |
//	   |              |<- NotDue -----|  (too early: the activity's retry is a durable timer)
//	   |              |               |-- load ----->|                |              |
//	   |              |               |-- open call? |                |              |
//	   |              |               |   yes: take over the claim, reconcile (below)|
//	   |              |               |-- prepare: fresh token, check, render ------>|
//	   |              |               |   upload, create containers ---------------->|
//	   |              |               |              |                |              |
//	   |              |  (armed: waits in memory, heartbeating)       |              |
//	   |              |               |-- admission: host slot, rate-limit token --->|
//	   |              |               |-- claim ---->| fence + 1, and the ledger row |
//	   |              |               |              | of the call, in one statement |
//	   |              |  (waits for the exact time)  |                |              |
//	   |              |               |-- send --------------------------------------|->
//	   |              |               |   (renews the claim meanwhile)|              |
//	   |              |               |<- response ----------------------------------|--
//	   |              |               |-- outcome ->| ledger, target and timeline    |
//	   |<- posted ----|<- result -----|              |                |              |
//
// A response that is lost, or an attempt that died between claim and outcome,
// leaves a call without an outcome in the ledger. The next attempt that sees it resolves it
// before anything else is sent:
//
//	TakeOver (or RenewClaim)     the fence moves on: the dead attempt can no longer record or send
//	SetCallState ambiguous       the timeline shows that the response was lost
//	search the network           by idempotency key, record key, container or listing, several times,
//	                             because listings lag behind
//	  found                      recorded as posted
//	  absent, or keyed           sent again, at most once without a key
//	  unclear                    uncertain: a person decides
//
// The order claim, fence, ledger, send is the promise of the product: a
// duplicate post is worse than a late one.
//
// The parts:
//
//	Publisher           one attempt at one target, from load to outcome
//	loader              reads the post, the account and what is already published
//	admission           acquires and releases rate-limit tokens and host slots
//	tokens              ensures a fresh access token
//	stager              renders, uploads and prepares what the call needs
//	sender              claims and makes the call that cannot be undone
//	reconciler          resolves lost sends
//	outcomes, recorder  write what happened, and the metrics
//	burst, Batched      keep thousands of posts of one second from delaying each other
//	InFlight            ends attempts whose post has changed
//	Planner, Commands   read posts for their workflows, and apply operators' signals
//	Recovery            starts the workflows of posts that have none
package delivery
