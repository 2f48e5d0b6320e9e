package nostr

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"dateline/internal/infra/message"
	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// delivery is an event at one relay.
type delivery struct {
	relay   string
	conn    *connection // nil: not connected
	found   bool        // the relay shows it, or a newer version of the article
	deleted bool        // the relay shows that its author asked to delete it
	newer   bool        // the relay shows a newer article of Dateline with the same slug
	sent    time.Time
	err     *network.Error
}

// look asks the relay for the event, its deletion and newer versions of an article.
func (d *delivery) look(ctx context.Context, e event) error {
	filters := []filter{
		{IDs: []string{e.ID}}, {Kinds: []int{kindDeletion}, Authors: []string{e.PubKey}, Events: []string{e.ID}},
	}
	name := e.tag("d")
	if e.Kind == kindLongForm {
		filters = append(filters, filter{Kinds: []int{e.Kind}, Authors: []string{e.PubKey}, Names: []string{name}},
			filter{Kinds: []int{kindDeletion}, Authors: []string{e.PubKey}, Article: []string{e.coordinate()}})
	}
	events, err := d.conn.query(ctx, filters...)
	for _, one := range events {
		isNewer := e.Kind == kindLongForm && one.coordinate() == e.coordinate() && one.CreatedAt > e.CreatedAt
		by := one.tag(tagOperation) // only Dateline's articles have it
		isOther := by != "" && by != e.tag(tagOperation)
		d.found = d.found || one.ID == e.ID || isNewer && !isOther
		d.newer = d.newer || isNewer && isOther
		d.deleted = d.deleted || one.deletes(e)
	}
	return err
}

// proofPauses are before a relay that accepted an event is asked for it once more: those that
// were observed show it at once.
func proofPauses() []time.Duration {
	return []time.Duration{100 * time.Millisecond, 400 * time.Millisecond}
}

// send sends the event and asks for it. What a relay says about an event proves nothing: some
// accept what they do not store, and some call what they deleted a duplicate.
func (d *delivery) send(ctx context.Context, e event) error {
	d.sent = time.Now()
	answer := network.AsError(d.conn.submit(ctx, e))
	if answer != nil && answer.Class != network.Duplicate && answer.Code != "error" {
		return answer
	}
	for _, pause := range append([]time.Duration{0}, proofPauses()...) {
		if err := retry.Sleep(ctx, pause); err != nil {
			break
		}
		if err := d.look(ctx, e); err != nil {
			return d.conn.failed(network.Ambiguous, "no_proof", "The relay did not say whether it has the post.", err)
		}
		if d.found {
			return nil
		}
		if answer != nil {
			break
		}
	}
	switch {
	case d.isReplaced():
		return nil
	case answer != nil && answer.Class != network.Duplicate:
		return answer
	default:
		return d.conn.failed(network.Ambiguous, "not_stored", "The relay accepted the post and does not show it.", nil)
	}
}

// deliveries are the states of an event at the relays of an account.
type deliveries []*delivery

func (n *Nostr) deliveriesOf(account network.Account) (at deliveries, err error) {
	relays, err := n.relaysOf(account)
	for _, relay := range relays {
		at = append(at, &delivery{relay: relay})
	}
	return at, err
}

// each calls do for all relays at a time.
func (at deliveries) each(ctx context.Context, timeout time.Duration, do func(context.Context, *delivery) error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var all sync.WaitGroup
	for _, d := range at {
		all.Go(func() { d.err = network.AsError(do(ctx, d)) })
	}
	all.Wait()
}

// open connects to the relays, asks them for the event, and calls then for those that answer. The
// caller must close them.
func (n *Nostr) open(
	ctx context.Context, account network.Account, at deliveries, e event, then func(context.Context, *delivery) error,
) error {
	s, err := n.signerOf(account)
	if err != nil {
		return err
	}
	at.each(ctx, 2*n.options.AnswerTimeout, func(ctx context.Context, d *delivery) (err error) {
		if d.conn, err = n.dial(ctx, d.relay, s, account.Token); err != nil {
			return err
		}
		asking, cancel := context.WithTimeout(ctx, n.options.AnswerTimeout)
		defer cancel()
		if err := d.look(asking, e); err != nil || then == nil {
			return err
		}
		return then(ctx, d)
	})
	return nil
}

// ask opens the relays without sending anything, and tries those that do not answer again.
func (n *Nostr) ask(ctx context.Context, account network.Account, at deliveries, e event) error {
	next := at
	for try := 0; ; try++ {
		if err := n.open(ctx, account, next, e, nil); err != nil {
			return err
		}
		next = at.where((*delivery).canFollow)
		if len(next) == 0 || try >= len(n.options.Pauses) || len(at.where((*delivery).isFound)) > 0 {
			return nil
		}
		next.close()
		_ = retry.Sleep(ctx, n.options.Pauses[try]) // the next try fails when it was interrupted
	}
}

func (at deliveries) close() {
	for _, d := range at {
		d.conn.close()
	}
}

// where returns the relays for which a condition holds.
func (at deliveries) where(is func(*delivery) bool) deliveries {
	return slices.DeleteFunc(slices.Clone(at), func(d *delivery) bool { return !is(d) })
}

func (d *delivery) isFound() bool    { return d.found }
func (d *delivery) isDeleted() bool  { return d.deleted }
func (d *delivery) isReplaced() bool { return d.deleted || d.newer }
func (d *delivery) hasFailed() bool  { return d.err != nil }

// canFollow reports whether a relay without the event may take it shortly.
func (d *delivery) canFollow() bool {
	return !d.found && d.err != nil && slices.Contains([]network.Class{
		network.NotSent, network.Transient, network.Ambiguous,
	}, d.err.Class)
}

// names returns the relays as a list.
func (at deliveries) names() string {
	var names []string
	for _, d := range at {
		names = append(names, hostOf(d.relay))
	}
	return strings.Join(names, ", ")
}

// failure combines the errors of relays: as long as one may have the event, that is not
// known, and as long as one may take it later, it is sent again.
func (at deliveries) failure() *network.Error {
	var worst *network.Error
	var texts []string
	order := []network.Class{
		network.Rejected, network.Auth, network.Throttled, network.NotSent, network.Transient, network.Ambiguous,
	}
	for _, d := range at {
		if d.err == nil {
			continue
		}
		texts = append(texts, d.err.Message)
		if worst == nil || slices.Index(order, d.err.Class) > slices.Index(order, worst.Class) {
			worst = d.err
		}
	}
	if worst == nil {
		return nil
	}
	combined := *worst
	combined.Message = strings.Join(texts, " ")
	return &combined
}

// enough is how many relays should have a post: more than half.
func (at deliveries) enough() bool { return len(at.where((*delivery).isFound)) > len(at)/2 }

// Publish sends the event to the relays that do not have it. Nothing is sent once one of them
// shows that the event was deleted: others would publish it again. A single relay is enough
// for the post to be public; the relays that do not have it are reported.
func (n *Nostr) Publish(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Receipt, error) {
	h, ok := parseHandle(submission.Handle)
	e := h.event
	if !ok {
		return network.Receipt{}, &network.Error{
			Class: network.NotSent, Code: "not_prepared", Message: "The post is not signed yet.",
		}
	}
	if latest := time.Now().Add(time.Minute); e.CreatedAt > max(latest.Unix(), submission.Due.Unix()) {
		return network.Receipt{}, &network.Error{ // relays refuse it, or show it at its former time
			Class: network.Transient, Code: network.CodeMediaExpired,
			Message: "The post was moved to an earlier time. It is signed again.",
		}
	}
	at, err := n.deliveriesOf(account)
	if err != nil {
		return network.Receipt{}, err
	}
	next := at
	for try := 0; ; try++ {
		if err := n.send(ctx, account, next, e); err != nil {
			return network.Receipt{}, err
		}
		if at.enough() || try >= len(n.options.Pauses) || len(at.where((*delivery).isFound)) == 0 ||
			len(at.where((*delivery).isReplaced)) > 0 {
			break
		}
		next = at.where((*delivery).canFollow)
		if retry.Sleep(ctx, n.options.Pauses[try]) != nil {
			break
		}
	}
	switch {
	case len(at.where((*delivery).isFound)) > 0:
		return n.receipt(account, e, at), nil
	case len(at.where((*delivery).isDeleted)) > 0:
		return network.Receipt{}, rejected("", "deletion_requested", "Somebody asked the relays to delete this post. "+
			"Edit it, which makes a new post, or discard it.")
	case len(at.where((*delivery).isReplaced)) > 0:
		return network.Receipt{}, rejected("options.slug", "newer_article", "A newer article of this account has the "+
			"same slug. Choose another one.")
	default:
		return network.Receipt{}, at.failure()
	}
}

// freshFor is how long after its time an event is sent to each relay as soon as that one says
// that it has no deletion. Later, all of them are asked first: an earlier attempt may have
// published it, and its author may have deleted it.
const freshFor = 30 * time.Second

func (n *Nostr) send(ctx context.Context, account network.Account, at deliveries, e event) error {
	defer at.close()
	send := func(ctx context.Context, d *delivery) error {
		if d.found || d.isReplaced() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, n.options.AnswerTimeout)
		defer cancel()
		return d.send(ctx, e)
	}
	then := send
	isFresh := time.Since(time.Unix(e.CreatedAt, 0)) < freshFor
	if !isFresh {
		then = nil
	}
	if err := n.open(ctx, account, at, e, then); err != nil {
		return err
	}
	if !isFresh && len(at.where((*delivery).isReplaced)) == 0 {
		at.where(func(d *delivery) bool { return d.err == nil }).each(ctx, n.options.AnswerTimeout, send)
	}
	return nil
}

func (n *Nostr) receipt(account network.Account, e event, at deliveries) network.Receipt {
	var relays []string
	receipt := network.Receipt{RemoteID: e.ID, CreatedAt: time.Unix(e.CreatedAt, 0).UTC()}
	for _, d := range at.where((*delivery).isFound) {
		relays = append(relays, d.relay)
		if !d.sent.IsZero() && (receipt.SentAt.IsZero() || d.sent.Before(receipt.SentAt)) {
			receipt.SentAt = d.sent.UTC()
		}
	}
	receipt.URL = n.permalink(account, e, relays)
	if missing := at.where(func(d *delivery) bool { return !d.found }); len(missing) > 0 {
		receipt.Differences = message.One(network.DifferenceRelays, "It is on {count|relay|relays} of {total}. These "+
			"do not have it: {relays}.", len(relays), len(at), missing.names())
	}
	return receipt
}

// Reconcile asks the relays for the event, also those that the account had when it was signed.
// None has it, if all of them answer and none shows it. Neither a deleted event nor one that
// has expired was never published: another signature would publish it again.
func (n *Nostr) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	h, ok := parseHandle(submission.Handle)
	e := h.event
	if !ok {
		return network.Finding{
			Conclusive: true, Evidence: message.One("not_signed", "The post was never signed, so it was never sent."),
		}, nil
	}
	at, err := n.deliveriesOf(account)
	if err != nil {
		return network.Finding{}, err
	}
	for _, relay := range h.Relays {
		if len(at.where(func(d *delivery) bool { return d.relay == relay })) == 0 {
			at = append(at, &delivery{relay: relay})
		}
	}
	defer at.close()
	if err := n.ask(ctx, account, at, e); err != nil {
		return network.Finding{}, err
	}
	found := at.where((*delivery).isFound)
	switch failed := at.where((*delivery).hasFailed); {
	case window.Known[e.ID] || window.SinceID == e.ID:
		return network.Finding{Evidence: message.One("event_of_other_post",
			"The event {id} belongs to another post of Dateline.", e.ID)}, nil
	case len(found) > 0:
		return network.Finding{
			Found: true, Conclusive: true, Receipt: n.receipt(account, e, at),
			Evidence: message.One("relays_have_it", "These relays have the event {id}: {relays}.", e.ID, found.names()),
		}, nil
	case len(at.where((*delivery).isDeleted)) > 0:
		return network.Finding{Evidence: message.One("event_deleted", "The event {id} was deleted.", e.ID)}, nil
	case len(failed) > 0:
		e := failed.failure()
		if e.Class == network.NotSent {
			e.Class = network.Transient
		}
		return network.Finding{}, e
	default:
		return network.Finding{
			Conclusive: !e.hasExpired(),
			Evidence: message.One("no_relay_has_it", "None of these relays has the event {id}: {relays}.", e.ID,
				at.names()),
		}, nil
	}
}

// Delete asks the relays to delete an event (kind 5). They are free to keep it, and some
// publish it again when somebody sends it once more.
// https://github.com/nostr-protocol/nips/blob/master/09.md
func (n *Nostr) Delete(ctx context.Context, account network.Account, remoteID string) error {
	at, err := n.deliveriesOf(account)
	if err != nil {
		return err
	}
	s, err := n.signerOf(account)
	if err != nil {
		return err
	}
	defer at.close()
	request := event{Kind: kindDeletion, CreatedAt: time.Now().Unix(), Tags: [][]string{{"e", remoteID}}}
	var once sync.Mutex
	at.each(ctx, n.options.AnswerTimeout, func(ctx context.Context, d *delivery) (err error) {
		if d.conn, err = n.dial(ctx, d.relay, s, account.Token); err != nil {
			return err
		}
		found, err := d.conn.query(ctx, filter{IDs: []string{remoteID}})
		once.Lock()
		defer once.Unlock()
		for _, e := range found {
			d.found = d.found || e.ID == remoteID
			if e.ID == remoteID && e.Kind == kindLongForm {
				request.addTag("a", e.coordinate())
			}
		}
		return err
	})
	if err := s.sign(ctx, &request); err != nil {
		return err
	}
	at.where(func(d *delivery) bool { return d.err == nil }).each(ctx, n.options.AnswerTimeout,
		func(ctx context.Context, d *delivery) error {
			err := d.conn.submit(ctx, request)
			if e := network.AsError(err); e != nil && (e.Class == network.Duplicate || !d.found) {
				return nil
			}
			return err
		})
	if e := at.where((*delivery).hasFailed).failure(); e != nil {
		if e.Class == network.Ambiguous || e.Class == network.NotSent {
			e.Class = network.Transient // asking again changes nothing
		}
		return e
	}
	return nil
}
