package delivery_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// entry is a row of the ledger.
type entry struct {
	Segment  int
	Revision int64
	Epoch    int
	Fence    int64
	State    string
	Key      string
	RemoteID *string
}

// entries reads a target's ledger in the order of writing.
func (b *bench) entries(target uuid.UUID) []entry {
	b.t.Helper()
	db, err := pgx.Connect(b.t.Context(), b.url)
	b.must(err)
	defer func() { _ = db.Close(context.Background()) }()
	rows, err := db.Query(b.t.Context(),
		`select segment, revision, epoch, fence, state::text, idempotency_key, remote_id
		from operations where target_id = $1 order by id`, target)
	b.must(err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[entry])
	b.must(err)
	return list
}

// states lists the outcomes of one segment's calls, in order.
func states(ledger []entry, segment int) []string {
	list := []string{}
	for _, e := range ledger {
		if e.Segment == segment {
			list = append(list, e.State)
		}
	}
	return list
}

// living lists the posts that exist on an account, oldest first.
func (b *bench) living(a account.Account) []fake.Post {
	return slices.DeleteFunc(b.published(), func(p fake.Post) bool { return p.AccountID != a.RemoteID })
}

func targetOn(p post.Post, a account.Account) post.Target {
	for _, t := range p.Targets {
		if t.AccountID == a.ID {
			return t
		}
	}
	return post.Target{}
}

func inputOn(p post.Post, a account.Account) delivery.TargetInput {
	return delivery.TargetInput{PostID: p.ID, TargetID: targetOn(p, a).ID, Revision: p.Revision}
}

// thread makes a post a thread of n segments, each with a text of its own.
func thread(n int) func(*post.Post) {
	return func(p *post.Post) {
		p.Content = text + " (1)"
		for i := 1; i < n; i++ {
			p.Thread = append(p.Thread, post.Segment{Content: fmt.Sprintf("%s (%d)", text, i+1)})
		}
	}
}

// prove compares the records of a post's target with its account, to which nothing else
// was sent: the first n segments exist once each, in order, each a reply to the
// previous one.
func (b *bench) prove(id uuid.UUID, a account.Account, status post.TargetStatus, n int) post.Target {
	b.t.Helper()
	p := b.read(id)
	target := targetOn(p, a)
	segments, live := p.Segments(target), b.living(a)
	if target.Status != status {
		b.t.Errorf("%s: the target is %s with error %q %q, want %s", a.Handle, target.Status, target.ErrorClass,
			target.ErrorMessage, status)
	}
	if len(live) != n {
		b.t.Errorf("%s: %d posts exist, want %d: %+v", a.Handle, len(live), n, live)
		return target
	}
	for i, there := range live {
		answers := ""
		if i > 0 {
			answers = live[i-1].ID
		}
		if i < len(segments) && (there.Text != segments[i].Content ||
			len(there.Media) != len(segments[i].AttachmentIDs)) || there.ReplyTo != answers {
			b.t.Errorf("%s: segment %d exists as %+v, want %+v as a reply to %q", a.Handle, i, there, segments[i],
				answers)
		}
	}
	b.proveRecords(a, target, live)
	return target
}

// proveRecords checks that ledger and remote posts agree with one another and with what
// exists.
func (b *bench) proveRecords(a account.Account, target post.Target, live []fake.Post) {
	b.t.Helper()
	known, err := b.store.Publishing.Ledger.PublishedSegments(b.t.Context(), target.ID)
	b.must(err)
	if unknown := len(live) - len(known); unknown != 0 && (target.Status != post.TargetUncertain || unknown != 1) {
		b.t.Errorf("%s: %d posts exist, %d are recorded", a.Handle, len(live), len(known))
	}
	ledger := b.entries(target.ID)
	for i, k := range known {
		if k.Segment != i || i < len(live) && (k.RemoteID != live[i].ID || k.RemoteURL != live[i].URL) {
			b.t.Errorf("%s: recorded as segment %d of %q, exists as %+v", a.Handle, k.Segment, k.RemoteID, live[i])
		}
		if i == 0 && (target.RemoteID != k.RemoteID || target.RemoteURL != k.RemoteURL) {
			b.t.Errorf("%s: the target shows %q, its first segment is %q", a.Handle, target.RemoteID, k.RemoteID)
		}
		made := 0
		for _, e := range ledger {
			if e.Segment == i && (e.State == post.CallAccepted || e.State == post.CallReconciledOK) {
				made++
				if e.RemoteID == nil || *e.RemoteID != k.RemoteID {
					b.t.Errorf("%s: the ledger names another post than %q: %+v", a.Handle, k.RemoteID, e)
				}
			}
		}
		if made != 1 {
			b.t.Errorf("%s: %d calls created segment %d: %+v", a.Handle, made, i, ledger)
		}
	}
	epochs, keys, fence := map[string]int{}, map[string]int{}, int64(0)
	for _, e := range ledger {
		at := fmt.Sprintf("%d of revision %d", e.Segment, e.Revision)
		if epochs[at]++; e.Epoch != epochs[at] {
			b.t.Errorf("%s: call %d of segment %s has epoch %d", a.Handle, epochs[at], at, e.Epoch)
		}
		if other, ok := keys[e.Key]; ok && other != e.Segment {
			b.t.Errorf("%s: segments %d and %d share a key", a.Handle, other, e.Segment)
		}
		keys[e.Key] = e.Segment
		if e.Fence <= fence {
			b.t.Errorf("%s: fence %d after %d", a.Handle, e.Fence, fence)
		}
		fence = e.Fence
		if (e.State == post.CallSending || e.State == post.CallAmbiguous) && !target.Status.IsOpen() {
			b.t.Errorf("%s: a call is still %s: %+v", a.Handle, e.State, e)
		}
	}
	if target.Status == post.TargetPosted && (target.ErrorClass != "" || target.ErrorMessage != "" ||
		target.PostedAt == nil) {
		b.t.Errorf("%s: posted at %v with error %q %q", a.Handle, target.PostedAt, target.ErrorClass,
			target.ErrorMessage)
	}
	if !target.Status.IsOpen() && target.ClaimedUntil != nil {
		b.t.Errorf("%s: the claim was not released", a.Handle)
	}
}

func idsOf(accounts []account.Account) []uuid.UUID {
	ids := make([]uuid.UUID, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	return ids
}
