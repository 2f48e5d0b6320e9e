// Package network defines the contract between Dateline and a social network.
//
// An adapter is a package next to this one (platforms/mastodon, platforms/x)
// that implements [Network] for one social network. Dateline calls it with a
// connected [Account] and a fixed [Submission], and decides what to do next
// from the [Class] of the [Error] that it returns. Adapters know nothing of
// Temporal, the database or Redis.
//
// # Life of a post
//
//  1. Check and Count validate the text and the attachments. They make no call.
//  2. Stage uploads each attachment; StageStatus is polled until it is ready.
//  3. Prepare, where the adapter is a [Preparer], creates everything on the
//     network that does not publish yet, and is polled until it is ready.
//  4. Publish makes the one call that publishes.
//  5. Reconcile searches for the post if the response to Publish was lost.
//
// Steps 2 and 3 run ahead of the scheduled time and can be repeated. Step 4
// sends at most one request per attempt.
//
// # Never publish twice
//
// Every error is an *[Error]. Its class says whether another attempt can
// publish a second post:
//
//	Class      Meaning                                Next step
//	NotSent    no byte of the request was written     retry
//	Transient  the network did not act                retry
//	Throttled  refused by a rate limit                retry at RetryAt
//	Ambiguous  sent, but no reliable response         Reconcile, never retry first
//	Auth       token expired, revoked, lacks a scope  refresh once, then reconnect
//	Rejected   refused permanently                    dead letter
//	Duplicate  the network already has this post      use Error.Existing or Reconcile
//
// Package call returns these classes for everything that can happen to an HTTP
// request. Set call.Request.Create on the request that publishes: a lost
// response is then Ambiguous instead of Transient. An adapter refines the class
// where the error code of its network says more than the HTTP status.
//
// Reconcile reports a post as absent only if Finding.Conclusive is set. Package
// matching compares the submission with the posts that a network lists.
// Servers may finish a call whose connection is gone: Limits.FinishesWithin says how long
// that can take, and no absence counts before.
//
// # Optional interfaces
//
// An adapter implements those that apply to its network; Dateline checks for
// them with a type assertion:
//
//	Connector        accounts are connected with OAuth 2
//	FormConnector    accounts are connected with a form (bot token, app password)
//	Refresher        access tokens expire and can be refreshed
//	Revoker          tokens can be revoked
//	Identifier       an account's profile can be read again without Connector
//	Federated        the network consists of many instances
//	LimitsDefaulter  limits are known before an account is connected
//	Preparer         a post is created in two steps
//	OptionParser     posts have options, such as a visibility or a poll
//	MentionFinder    accounts can be searched for while a text is written
//	Previewer        the network changes or folds what it shows
//	Pricer           the network charges for posts
//	Measurer         the network reports likes, views and other metrics of posts
//
// # Adding a network
//
//  1. Create platforms/<name> with an Options type, whose zero value works, a
//     constant Name, New(client, options), and compile-time assertions for the
//     interfaces that it implements. Cite the page of the network's API
//     documentation at every endpoint, limit and error code.
//  2. In platforms/platforms.go, add a field to Options, a line to New, and a
//     line to sharedSettings: the address of its fake, and the operator's
//     application, which also has a line in networkSettings of internal/infra/config.
//     Only a network whose fake is the whole sandbox (Mastodon) needs no line.
//  3. Add an account of its fake to the sandbox: populate in internal/cli, and
//     Everywhere in internal/testing/newsroomtest.
//  4. Describe its options in api/openapi/options-components.yaml and run make
//     generate. Add its name, icon, frame, controls and texts in web (messages of
//     the adapter too: go test ./web -update writes the English ones), and its rows
//     in docs/reference/networks.md. go test ./platforms ./web ./docs names what is
//     missing.
//  5. Add it to the test of secrets in worker/leak_networks_test.go, to
//     e2e/networks_test.go, and to web/browser/options.test.ts.
//
// Reuse these packages:
//
//	call             HTTP requests with error classes, rate-limit headers, redaction of secrets
//	rules            checks that all networks share, links and hashtags of a text
//	article          titles, HTML, drafts and sites of publishing systems
//	matching         comparison of a lost post with listed posts
//	graph            Meta's Graph API: errors, paging, tokens
//	graph/container  publishing in two steps, for Instagram and Threads
//
// A network that is not called over HTTP (Nostr) classifies its errors itself; its fake serves each
// message as a request, so that all faults apply.
//
// Prove the adapter with two more:
//
//	fake             add a fake of the network (the sandbox) that behaves as documented:
//	                 a file, a line in newNetworks, and the values of its form in
//	                 FormValues
//	platformtest     call Run from the adapter's TestConformance: it publishes, loses
//	                 responses, throttles and reconciles against the fake, and fails
//	                 if a post exists twice
//
// Then add it to everyNetworks, networkOptions and, if it is a Preparer, inAdvances in
// internal/publishing/delivery, whose matrices lose its responses in real deliveries.
//
// A test of a real server, if there is one, publishes with e2e/stack.PublishKilled.
//
// The adapter is done when platformtest passes with every fault, its count
// table has at least 100 rows, and the how-to guide for connecting accounts
// lists the scopes and limits that it needs.
package network
