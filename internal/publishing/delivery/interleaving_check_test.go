package delivery_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// of lists the posts on an account that belong to a post, oldest first.
func (h *history) of(w *witness, accountID uuid.UUID) []fake.Post {
	for _, a := range h.accounts {
		if a.ID == accountID {
			return slices.DeleteFunc(h.living(a), func(p fake.Post) bool {
				return !strings.Contains(p.Text, w.id.String())
			})
		}
	}
	return nil
}

// examine compares the final state of a history with the acknowledged changes.
func (h *history) examine(w *witness) {
	p := h.read(w.id)
	timeline := h.timeline(w.id)
	complain := func(format string, args ...any) {
		h.t.Errorf("%s, post %s (%s): %s\ntimeline %v", h.name, w.id, p.Status, fmt.Sprintf(format, args...), timeline)
	}
	given := slices.Contains(timeline, post.EventDiscarded)
	if p.Status != post.Posted && p.Status != post.Canceled && (p.Status != post.PartlyPosted || !given) {
		complain("it is not in a final state: %+v", p.Targets)
	}
	if slices.Contains(timeline, post.EventCanceled) && p.Status != post.Canceled {
		complain("its cancel was overtaken")
	}
	for _, t := range p.Targets {
		live := h.of(w, t.AccountID)
		if slices.Contains(timeline, post.EventCanceled) && len(live) > 0 {
			complain("it was canceled and exists: %+v", live)
		}
		h.examineTarget(w, p, t, live, complain)
	}
	h.examineClaims(w, complain)
}

func (h *history) examineTarget(
	w *witness, p post.Post, t post.Target, live []fake.Post, complain func(string, ...any),
) {
	known, err := h.store.Publishing.Ledger.PublishedSegments(h.t.Context(), t.ID)
	h.must(err)
	if t.Status == post.TargetPosted && (len(live) < len(p.Segments(t)) && len(live) != len(known) || len(live) == 0) {
		complain("%d of %d segments exist", len(live), len(p.Segments(t)))
	}
	if len(known) > len(live) || len(known) < len(live) && t.Status != post.TargetCanceled {
		complain("%d are recorded, %d exist: %+v", len(known), len(live), live)
		return
	}
	ledger := h.entries(t.ID)
	for i, there := range live {
		if !strings.Contains(there.Text, fmt.Sprintf(" segment %d ", i)) {
			complain("segment %d has the text %q", i, there.Text)
		}
		if i > 0 && there.ReplyTo != live[i-1].ID || i == 0 && there.ReplyTo != "" {
			complain("segment %d replies to %q", i, there.ReplyTo)
		}
		if i >= len(known) {
			continue
		}
		if known[i].RemoteID != there.ID || known[i].Segment != i {
			complain("segment %d is recorded as %+v and exists as %+v", i, known[i], there)
		}
		for _, e := range ledger {
			if e.RemoteID == nil || *e.RemoteID != there.ID {
				continue
			}
			said, ok := w.said[e.Revision]
			if !ok {
				complain("revision %d, which made segment %d, was never acknowledged", e.Revision, i)
				continue
			}
			if segments := said.Segments(targetNamed(said, t.ID)); i >= len(segments) ||
				segments[i].Content != there.Text {
				complain("segment %d exists as %q, revision %d has %+v", i, there.Text, e.Revision, segments)
			}
		}
	}
}

func targetNamed(p post.Post, id uuid.UUID) post.Target {
	for _, t := range p.Targets {
		if t.ID == id {
			return t
		}
	}
	return post.Target{}
}

// examineClaims checks that every claim was made on the newest revision: events and
// claims of one post are written under its lock, so their order is reliable.
func (h *history) examineClaims(w *witness, complain func(string, ...any)) {
	events, err := h.store.Publishing.Posts.Events(h.t.Context(), w.id, 0, 1000)
	h.must(err)
	revision := int64(1)
	claims := map[uuid.UUID][]int64{}
	for _, e := range events {
		switch e.Type {
		case post.EventEdited, post.EventPublishNow, post.EventCanceled:
			revision++
		case post.EventSending:
			claims[*e.TargetID] = append(claims[*e.TargetID], revision)
		}
	}
	for target, made := range claims {
		ledger := h.entries(target)
		got := make([]int64, len(ledger))
		for i, e := range ledger {
			got[i] = e.Revision
		}
		slices.Sort(got) // ids are created before the claim waits for the post's lock
		if !slices.Equal(got, made) {
			complain("claims were made on revisions %v, the newest ones then were %v", got, made)
		}
	}
}
