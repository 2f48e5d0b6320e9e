package article

import (
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
)

// Draft is the part of Prepared.Handle by which a draft is found again. It is stored before
// anything is sent.
type Draft struct {
	Slug string `json:"slug"` // by which the draft is found until its id is known
	// Nonce marks a draft for which no call was sent yet, if this process remembers it.
	Nonce string `json:"nonce,omitempty"`
	// Until is when a lost call that creates the draft can no longer act.
	Until time.Time `json:"until,omitzero"`
}

// Settled returns the draft after its id became known.
func (d Draft) Settled() Draft { return Draft{Slug: d.Slug} }

// Prepared returns a handle as the result of Prepare.
func Prepared(handle any, ready bool, after time.Duration) (network.Prepared, error) {
	raw, err := json.Marshal(handle)
	return network.Prepared{Handle: string(raw), Ready: ready, CheckAfter: after}, err
}

// Shortly is Prepared.CheckAfter if nothing has to be waited for.
const Shortly = time.Millisecond

const lookAgain = 2 * time.Second

// Creator decides when the one call that creates a draft is sent. Sites have no keys, and
// finish calls whose connection is gone: there are never two calls that create a draft at
// the same time, and after a lost one the draft is searched for until the call can no longer
// act.
type Creator struct {
	Finish time.Duration // how long a site works on a call at most
	// unsent are the drafts for which this process has not sent a call yet. Losing it only
	// makes Prepare wait for a call that was never sent.
	unsent sync.Map
}

// Begin returns a draft for which nothing was sent.
func (c *Creator) Begin(slug string) Draft {
	d := Draft{Slug: slug, Nonce: rand.Text()}
	c.unsent.Store(d.Nonce, true)
	return d
}

// Absent decides what follows from a search that did not find the draft: it is created now,
// or searched for again after a while, or an error says that it was never created.
func (c *Creator) Absent(d *Draft) (create bool, after time.Duration, err error) {
	if _, unsent := c.unsent.LoadAndDelete(d.Nonce); unsent {
		return true, 0, nil
	}
	if d.Until.IsZero() { // the process that sent it, or did not, is gone
		return false, c.Lost(d), nil
	}
	if left := time.Until(d.Until); left > 0 {
		return false, min(lookAgain, left), nil
	}
	return false, 0, &network.Error{
		Class: network.Transient, Code: network.CodeMediaExpired,
		Message: "The site did not create the draft. It is created again.",
	}
}

// Lost notes that the response to the call was lost, and returns when to search.
func (c *Creator) Lost(d *Draft) time.Duration {
	d.Until = time.Now().Add(c.Finish)
	return min(lookAgain, c.Finish)
}

// Refused notes that the call did not act.
func (c *Creator) Refused(d Draft) { c.unsent.Store(d.Nonce, true) }

// NotPrepared is the error of publishing without a draft.
func NotPrepared() *network.Error {
	return &network.Error{Class: network.NotSent, Code: "not_prepared", Message: "The article has no draft yet."}
}

// DeletedThere is the error for a draft that an editor deleted.
func DeletedThere() *network.Error {
	return rejected("", "deleted_there", "Somebody deleted the article on the site, so it was not published. If the "+
		"site has a trash, restore it there and try again; otherwise edit the post here, which makes a new draft, or "+
		"discard it.")
}

// EditedThere is the error for a draft that an editor changed.
func EditedThere() *network.Error {
	return rejected("", "edited_there", "Somebody edited the draft on the site, so it was not published. Publish it "+
		"there and try again, which records it here; or edit the post here, which makes a new draft.")
}

// ScheduledThere is the error for a draft that an editor scheduled.
func ScheduledThere() *network.Error {
	return rejected("", "scheduled_there", "Somebody scheduled the article on the site, which publishes it by itself. "+
		"Wait for it and try again, which records it here; or make it a draft there.")
}

// NeverMade is the finding for an operation without a draft.
func NeverMade() network.Finding {
	return network.Finding{
		Conclusive: true,
		Evidence:   message.One("no_draft", "The article has no draft, so it was never published."),
	}
}

// State is what a site has under the id of a draft. All sends of an operation are for the
// same draft, so that it says whether one of them acted.
type State struct {
	ID, Status          string
	IsRemoved, IsPosted bool
}

// Finding is the result of Reconcile.
func (s State) Finding(window network.Window, receipt network.Receipt) network.Finding {
	switch {
	case s.IsRemoved:
		return network.Finding{
			Conclusive: true,
			Evidence:   message.One("draft_deleted", "The site no longer has the article {id}.", s.ID),
		}
	case window.Known[s.ID] || window.SinceID == s.ID:
		return network.Finding{Evidence: message.One("article_of_other_post",
			"The article {id} belongs to another post of Dateline.", s.ID)}
	case !s.IsPosted:
		return network.Finding{
			Conclusive: true,
			Evidence: message.One("article_not_public", "The article {id} is not published: the site has it with the "+
				"status {status}.", s.ID, s.Status),
		}
	default:
		return network.Finding{
			Found: true, Conclusive: true, Receipt: receipt,
			Evidence: message.One("article_public", "The article {id} is published.", s.ID),
		}
	}
}
