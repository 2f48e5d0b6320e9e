package workflows

import (
	"time"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// state is what a Post workflow decides by.
type state struct {
	view     delivery.PostView // the post as it was last read
	prepared int64             // the revision that is prepared ahead of its time; 0: none
	backoff  retryBackoff
}

// event is what has happened since the last step.
type event int

const (
	eventUnchanged event = iota // nothing that concerns the next step
	eventCommanded              // commands of operators have arrived
	eventChanged                // the post has changed, or may have
	eventAnswering              // updates wait for their answers
	eventCanceled               // the workflow was canceled while there was nothing to publish
	eventFull                   // the history is so long that Temporal suggests to continue as new
)

// action is what a step does.
type action int

const (
	doApply         action = iota // applies the commands
	doRead                        // reads the post
	doAnswer                      // waits until updates are answered: an end would leave them without an answer
	doStopPreparing               // cancels the uploads of an older revision
	doPrepare                     // waits, then uploads attachments
	doPublish                     // waits, then publishes
	doPark                        // waits with dead letters for a decision
	doContinueAsNew
	doEnd
	doEndCanceled // ends as canceled
)

// step is what a Post workflow does next. A step that waits ends without effect as soon
// as something arrives.
type step struct {
	do        action
	at        time.Time             // until when it waits; zero: it does not
	notBefore time.Time             // when the activities are dispatched; zero: immediately
	targets   []delivery.TargetView // that are prepared or published
}

// next decides what a Post workflow does. Recorded histories depend on it: another
// decision about the same state, event and time needs workflow.GetVersion.
func next(s state, e event, now time.Time) step {
	switch {
	case e == eventCommanded:
		return step{do: doApply}
	case e == eventChanged:
		return step{do: doRead}
	case s.isIdle():
		return s.nextIdle(e, now)
	case e == eventFull:
		return step{do: doContinueAsNew}
	case s.prepared != 0 && s.prepared != s.view.Revision:
		return step{do: doStopPreparing}
	case s.preparesAhead(now):
		return step{do: doPrepare, at: s.view.PrepareAt, targets: s.open()}
	default:
		return s.publication(now)
	}
}

// isIdle reports whether nothing can be published. A draft has no time yet; scheduling
// it starts the workflow again.
func (s state) isIdle() bool {
	return s.view.Status.IsFinal() || s.view.Status == post.Draft || len(s.open()) == 0
}

// open returns the targets that are to be published.
func (s state) open() (open []delivery.TargetView) {
	for _, t := range s.view.Targets {
		if t.Status.IsOpen() {
			open = append(open, t)
		}
	}
	return open
}

// nextIdle decides when there is nothing to publish.
func (s state) nextIdle(e event, now time.Time) step {
	switch {
	case e == eventAnswering:
		return step{do: doAnswer}
	case !s.view.ParkedUntil.After(now):
		return step{do: doEnd}
	// There is no post left to cancel: a person who cancels a parked workflow wants it to
	// end. The dead letters stay, and a decision through the API starts a workflow again.
	case e == eventCanceled:
		return step{do: doEndCanceled}
	case e == eventFull:
		return step{do: doContinueAsNew}
	default:
		return step{do: doPark, at: s.view.ParkedUntil}
	}
}

// minPrepareLead is how long before dispatch it is still worth preparing a post:
// publishing prepares what is missing.
const minPrepareLead = 5 * time.Second

// preparesAhead reports whether the post is prepared before it is published.
func (s state) preparesAhead(now time.Time) bool {
	return s.prepared == 0 && s.view.Status == post.Scheduled && !s.view.PrepareAt.IsZero() &&
		now.Before(armAt(s.view).Add(-minPrepareLead))
}

// publication is when the post is published: at its time, or after a failed attempt a
// little later. One that is deferred waits at Temporal with its activity, any other one
// in its workflow.
func (s state) publication(now time.Time) step {
	publish := step{do: doPublish, at: s.backoff.next(s.view.Revision), targets: s.open()}
	at := armAt(s.view)
	switch {
	case s.view.Status != post.Scheduled || !at.After(publish.at):
	case s.view.Deferred && at.After(now):
		publish.notBefore = at
	default:
		publish.at = at
	}
	return publish
}

// armAt is when the activities of a post are dispatched: ArmAt, or a second before
// its time if the view has none.
func armAt(v delivery.PostView) time.Time {
	if v.ArmAt.IsZero() {
		return v.ScheduledTime.Add(-time.Second)
	}
	return v.ArmAt
}

// retryBackoff counts the attempts at one revision that ended without a result for
// every target. They should be rare and temporary; if they are not, each waits
// longer than the one before.
type retryBackoff struct {
	revision int64
	failures int
	last     time.Time
}

func (t *retryBackoff) failed(revision int64, now time.Time) {
	if t.revision != revision {
		t.revision, t.failures = revision, 0
	}
	t.failures++
	t.last = now
}

// next is when a revision may be published.
func (t *retryBackoff) next(revision int64) time.Time {
	if t.revision != revision {
		return time.Time{}
	}
	return t.last.Add(min(500*time.Millisecond<<min(t.failures, 10), 30*time.Second))
}
