package workflows

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// decided is a step as these tests state it: targets by their networks.
type decided struct {
	do            action
	at, notBefore time.Time
	targets       string
}

// The posts of these tests are due an hour after opening, and their activities are
// dispatched a second before, unless they say otherwise.
func TestNext(t *testing.T) {
	const none, revision = 0, 3
	opening := time.Date(2026, 12, 24, 9, 0, 0, 0, time.UTC)
	due := opening.Add(time.Hour)
	arm := due.Add(-time.Second)
	upload, soon := due.Add(-10*time.Minute), due.Add(-2*time.Minute)
	month := opening.Add(post.ParkTimeout)
	edge := time.Nanosecond

	view := func(status post.Status, targets ...post.TargetStatus) delivery.PostView {
		v := delivery.PostView{Status: status, ScheduledTime: due, Revision: revision}
		for i, s := range targets {
			v.Targets = append(v.Targets, delivery.TargetView{
				Network: []string{"mastodon", "bluesky", "x"}[i], Status: s,
			})
		}
		return v
	}
	with := func(v delivery.PostView, change func(v *delivery.PostView)) delivery.PostView { change(&v); return v }
	deferred := func(v *delivery.PostView) { v.Deferred = true }
	attached := func(v *delivery.PostView) { v.PrepareAt = upload }
	armed := func(v *delivery.PostView) { v.ArmAt = soon }
	parked := func(v *delivery.PostView) { v.ParkedUntil = month }

	open, sent, dead, unsure, off := post.TargetScheduled, post.TargetPosted, post.TargetFailed, post.TargetUncertain,
		post.TargetCanceled
	scheduled := view(post.Scheduled, open, open)
	single := with(view(post.Scheduled, open), deferred)
	draft := view(post.Draft, open, open)
	publishing := view(post.Publishing, sent, open)
	posted := view(post.Posted, sent, sent)
	canceled := view(post.Canceled, off, off)
	failed := with(view(post.Failed, dead, dead), parked)
	partly := with(view(post.PartlyPosted, sent, dead), parked)
	uncertain := with(view(post.Publishing, unsure), parked)
	files := with(scheduled, attached)

	tried := func(failures int, last time.Time) retryBackoff {
		return retryBackoff{revision: revision, failures: failures, last: last}
	}
	never := retryBackoff{}
	publish := func(at time.Time) decided { return decided{do: doPublish, at: at, targets: "mastodon bluesky"} }
	publishOne := func(at, notBefore time.Time) decided {
		return decided{do: doPublish, at: at, notBefore: notBefore, targets: "mastodon"}
	}
	prepare := decided{do: doPrepare, at: upload, targets: "mastodon bluesky"}
	immediately := time.Time{}
	zero := delivery.PostView{}

	for name, row := range map[string]struct {
		view     delivery.PostView
		prepared int64
		backoff  retryBackoff
		event    event
		now      time.Time
		want     decided
	}{
		// A scheduled post waits for its time.
		"NotDueYet":   {scheduled, none, never, eventUnchanged, opening, publish(arm)},
		"AlmostDue":   {scheduled, none, never, eventUnchanged, arm.Add(-edge), publish(arm)},
		"Due":         {scheduled, none, never, eventUnchanged, arm, publish(arm)},
		"LongPast":    {scheduled, none, never, eventUnchanged, due.AddDate(0, 2, 0), publish(arm)},
		"InABurst":    {with(scheduled, armed), none, never, eventUnchanged, opening, publish(soon)},
		"DueInABurst": {with(scheduled, armed), none, never, eventUnchanged, soon, publish(soon)},
		"OneOfTwoAccountsClosed": {
			view(post.Scheduled, open, off), none, never, eventUnchanged, opening,
			publishOne(arm, time.Time{}),
		},

		// A single account's activity waits at Temporal.
		"Deferred":          {single, none, never, eventUnchanged, opening, publishOne(immediately, arm)},
		"DeferredAlmostDue": {single, none, never, eventUnchanged, arm.Add(-edge), publishOne(immediately, arm)},
		"DeferredDue":       {single, none, never, eventUnchanged, arm, publishOne(arm, time.Time{})},
		"DeferredPast":      {single, none, never, eventUnchanged, due, publishOne(arm, time.Time{})},
		"DeferredInABurst": {
			with(single, armed), none, never, eventUnchanged, opening,
			publishOne(immediately, soon),
		},
		"DeferredAfterAnEdit": {
			single, none, tried(1, opening), eventUnchanged, opening,
			publishOne(opening.Add(time.Second), arm),
		},
		"DeferredAfterAFailure": {
			single, none, tried(2, due), eventUnchanged, due,
			publishOne(due.Add(2*time.Second), time.Time{}),
		},

		// What was published in part continues at once, with what is open.
		"RetryOfOneTarget": {
			publishing, none, never, eventUnchanged, due.AddDate(0, 0, 5),
			decided{do: doPublish, targets: "bluesky"},
		},
		"NextSegmentWaits": {
			publishing, none, never, eventUnchanged, opening,
			decided{do: doPublish, targets: "bluesky"},
		},
		"DeferredIsOnlyBefore": {
			with(publishing, deferred), none, never, eventUnchanged, opening,
			decided{do: doPublish, targets: "bluesky"},
		},
		"ClaimedByALostWorker": {
			view(post.Publishing, post.TargetPublishing), none, never, eventUnchanged, due,
			decided{do: doPublish, targets: "mastodon"},
		},
		"OneIsUncertain": {
			view(post.Publishing, unsure, open), none, never, eventUnchanged, due,
			decided{do: doPublish, targets: "bluesky"},
		},
		"RetryOfAll": {
			with(scheduled, parked), none, never, eventUnchanged, due.AddDate(0, 0, 5),
			publish(arm),
		},
		"AccountWaits": {
			publishing, none, tried(3, due), eventUnchanged, due,
			decided{do: doPublish, at: due.Add(4 * time.Second), targets: "bluesky"},
		},

		// A round without a result is repeated, ever more rarely.
		"FirstFailure": {
			scheduled, none, tried(1, due), eventUnchanged, due,
			publish(due.Add(time.Second)),
		},
		"FifthFailure": {
			scheduled, none, tried(5, due), eventUnchanged, due,
			publish(due.Add(16 * time.Second)),
		},
		"SixthFailure": {
			scheduled, none, tried(6, due), eventUnchanged, due,
			publish(due.Add(30 * time.Second)),
		},
		"ManyFailures": {
			scheduled, none, tried(1000, due), eventUnchanged, due,
			publish(due.Add(30 * time.Second)),
		},
		"FailureBeforeItsTime": {scheduled, none, tried(1, opening), eventUnchanged, opening, publish(arm)},
		"FailureUntilItsTime": {
			scheduled, none, tried(1, arm.Add(-time.Second)), eventUnchanged, arm,
			publish(arm),
		},
		"FailureOfAnOldRevision": {
			scheduled, none,
			retryBackoff{revision: 2, failures: 9, last: due},
			eventUnchanged, due,
			publish(arm),
		},

		// Signals come first, also before a timer that fired with them.
		"CommandWhileWaiting":    {scheduled, none, never, eventCommanded, opening, decided{do: doApply}},
		"CommandWithTheTimer":    {scheduled, none, never, eventCommanded, arm, decided{do: doApply}},
		"CommandBeforeItIsRead":  {zero, none, never, eventCommanded, opening, decided{do: doApply}},
		"CommandWhileParked":     {failed, none, never, eventCommanded, opening, decided{do: doApply}},
		"CommandWithTheParkEnd":  {failed, none, never, eventCommanded, month, decided{do: doApply}},
		"CommandTooLate":         {posted, none, never, eventCommanded, due, decided{do: doApply}},
		"CommandToADraft":        {draft, none, never, eventCommanded, opening, decided{do: doApply}},
		"CommandWhileUploading":  {files, 2, never, eventCommanded, upload, decided{do: doApply}},
		"ChangeWhileWaiting":     {scheduled, none, never, eventChanged, opening, decided{do: doRead}},
		"ChangeWithTheTimer":     {scheduled, none, never, eventChanged, arm, decided{do: doRead}},
		"ChangeWhileUploading":   {files, revision, never, eventChanged, upload, decided{do: doRead}},
		"ChangeWhileParked":      {partly, none, never, eventChanged, opening, decided{do: doRead}},
		"ChangeWithTheParkEnd":   {partly, none, never, eventChanged, month, decided{do: doRead}},
		"ReconcilerFindsItEnded": {posted, none, never, eventChanged, due, decided{do: doRead}},
		"NeverRead":              {zero, none, never, eventChanged, opening, decided{do: doRead}},
		"AfterAFailedRound":      {scheduled, none, tried(1, due), eventChanged, due, decided{do: doRead}},

		// Approvals: what waits for one is a draft.
		"PendingApproval":  {draft, none, never, eventUnchanged, opening, decided{do: doEnd}},
		"ApprovalTooLate":  {draft, none, never, eventUnchanged, due.AddDate(0, 0, 1), decided{do: doEnd}},
		"PendingWithFiles": {with(draft, attached), none, never, eventUnchanged, upload, decided{do: doEnd}},
		"Approved": {
			with(scheduled, func(v *delivery.PostView) { v.Revision = 4 }), none, tried(5, due), eventUnchanged, due,
			publish(arm),
		},

		// Nothing is left to do.
		"Posted":   {posted, none, never, eventUnchanged, due, decided{do: doEnd}},
		"Canceled": {canceled, none, never, eventUnchanged, opening, decided{do: doEnd}},
		"CanceledInFlight": {
			view(post.Canceled, off, open), none, never, eventUnchanged, due,
			decided{do: doEnd},
		},
		"CanceledByARequest":  {canceled, none, never, eventCanceled, opening, decided{do: doEnd}},
		"CanceledWithUploads": {with(canceled, attached), 2, never, eventUnchanged, opening, decided{do: doEnd}},
		"Discarded": {
			view(post.PartlyPosted, sent, off), none, never, eventUnchanged, due,
			decided{do: doEnd},
		},
		"WithoutTargets":       {view(post.Scheduled), none, never, eventUnchanged, opening, decided{do: doEnd}},
		"PostedIsAnswered":     {posted, none, never, eventAnswering, due, decided{do: doAnswer}},
		"DraftIsAnswered":      {draft, none, never, eventAnswering, opening, decided{do: doAnswer}},
		"PostedWithAFullRun":   {posted, none, never, eventFull, due, decided{do: doEnd}},
		"UncertainForAMonth":   {view(post.Publishing, unsure), none, never, eventUnchanged, due, decided{do: doEnd}},
		"PostedByANewRevision": {posted, 2, tried(1, due), eventUnchanged, due, decided{do: doEnd}},

		// Dead letters wait for a decision.
		"DeadLetter":      {failed, none, never, eventUnchanged, opening, decided{do: doPark, at: month}},
		"OneDeadLetter":   {partly, none, never, eventUnchanged, opening, decided{do: doPark, at: month}},
		"UncertainTarget": {uncertain, none, never, eventUnchanged, opening, decided{do: doPark, at: month}},
		"ParkedAlmostAMonth": {
			failed, none, never, eventUnchanged, month.Add(-edge),
			decided{do: doPark, at: month},
		},
		"ParkedForAMonth":      {failed, none, never, eventUnchanged, month, decided{do: doEnd}},
		"ParkedLonger":         {failed, none, never, eventUnchanged, month.AddDate(0, 0, 1), decided{do: doEnd}},
		"ParkedIsAnswered":     {failed, none, never, eventAnswering, opening, decided{do: doAnswer}},
		"ParkEndIsAnswered":    {failed, none, never, eventAnswering, month, decided{do: doAnswer}},
		"ParkedIsCanceled":     {failed, none, never, eventCanceled, opening, decided{do: doEndCanceled}},
		"CanceledWithItsEnd":   {failed, none, never, eventCanceled, month, decided{do: doEnd}},
		"ParkedContinuesAsNew": {partly, none, never, eventFull, opening, decided{do: doContinueAsNew}},
		"FullWithItsEnd":       {partly, none, never, eventFull, month, decided{do: doEnd}},
		"ParkedAfterAnUpload": {
			with(failed, attached), 2, never, eventUnchanged, opening,
			decided{do: doPark, at: month},
		},
		"PublishedBesideALoss": {
			with(view(post.Publishing, dead, open), parked), none, never, eventUnchanged, due,
			decided{do: doPublish, targets: "bluesky"},
		},
		"LastSegmentsDiscarded": {
			with(view(post.PartlyPosted, sent, unsure, dead), parked), none, never, eventUnchanged, opening,
			decided{do: doPark, at: month},
		},

		// A long history.
		"ContinuesAsNew":           {scheduled, none, never, eventFull, opening, decided{do: doContinueAsNew}},
		"ContinuesAsNewAtItsTime":  {scheduled, none, never, eventFull, due, decided{do: doContinueAsNew}},
		"DeferredContinuesAsNew":   {single, none, never, eventFull, opening, decided{do: doContinueAsNew}},
		"PublishingContinuesAsNew": {publishing, none, never, eventFull, due, decided{do: doContinueAsNew}},
		"PreparedContinuesAsNew":   {files, revision, never, eventFull, upload, decided{do: doContinueAsNew}},
		"OldUploadContinuesAsNew":  {files, 2, never, eventFull, upload, decided{do: doContinueAsNew}},
		"AnswersBeforeAsNew":       {scheduled, none, never, eventAnswering, opening, publish(arm)},
		"RefusedCancelRequest": {
			publishing, none, never, eventCanceled, due,
			decided{do: doPublish, targets: "bluesky"},
		},

		// Attachments are uploaded ahead.
		"UploadLater":       {files, none, never, eventUnchanged, opening, prepare},
		"UploadNow":         {files, none, never, eventUnchanged, upload, prepare},
		"UploadShortNotice": {files, none, never, eventUnchanged, due.Add(-time.Minute), prepare},
		"UploadAtLast":      {files, none, never, eventUnchanged, arm.Add(-5*time.Second - edge), prepare},
		"UploadTooClose":    {files, none, never, eventUnchanged, arm.Add(-5 * time.Second), publish(arm)},
		"UploadPast":        {files, none, never, eventUnchanged, due, publish(arm)},
		"UploadBeforeABurst": {
			with(files, armed), none, never, eventUnchanged, soon.Add(-5 * time.Second),
			publish(soon),
		},
		"Uploaded":             {files, revision, never, eventUnchanged, upload, publish(arm)},
		"UploadedAndAnswering": {files, revision, never, eventAnswering, upload, publish(arm)},
		"UploadOfAnOldText":    {files, 2, never, eventUnchanged, upload, decided{do: doStopPreparing}},
		"UploadRemoved":        {scheduled, 2, never, eventUnchanged, upload, decided{do: doStopPreparing}},
		"UploadWhilePublished": {publishing, 2, never, eventUnchanged, due, decided{do: doStopPreparing}},
		"UploadOfARetry": {
			with(publishing, attached), none, never, eventUnchanged, opening,
			decided{do: doPublish, targets: "bluesky"},
		},
		"UploadDeferred": {
			with(single, attached), none, never, eventUnchanged, opening,
			decided{do: doPrepare, at: upload, targets: "mastodon"},
		},
		"UploadedDeferred": {
			with(single, attached), revision, never, eventUnchanged, upload,
			publishOne(immediately, arm),
		},
		"UploadOfOpenTargets": {
			with(view(post.Scheduled, open, off), attached), none, never, eventUnchanged, opening,
			decided{do: doPrepare, at: upload, targets: "mastodon"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := next(state{view: row.view, prepared: row.prepared, backoff: row.backoff}, row.event, row.now)
			got := decided{do: s.do, at: s.at, notBefore: s.notBefore}
			for i, target := range s.targets {
				if i > 0 {
					got.targets += " "
				}
				got.targets += target.Network
			}
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestRetryBackoff_CountsPerRevision(t *testing.T) {
	at := time.Date(2026, 12, 24, 9, 0, 0, 0, time.UTC)
	var b retryBackoff
	for _, row := range []struct {
		revision int64
		wait     time.Duration
	}{{1, time.Second}, {1, 2 * time.Second}, {1, 4 * time.Second}, {2, time.Second}, {2, 2 * time.Second}} {
		at = at.Add(time.Minute)
		b.failed(row.revision, at)
		if got := b.next(row.revision).Sub(at); got != row.wait {
			t.Errorf("revision %d waits %s, want %s", row.revision, got, row.wait)
		}
		if got := b.next(row.revision + 1); !got.IsZero() {
			t.Errorf("another revision waits until %s", got)
		}
	}
}

// A round's outcome decides whether the post is read again and how soon it is retried.
func TestRound_Outcome(t *testing.T) {
	const p, c, k, i = endPosted, endComplete, endCanceled, endIncomplete
	for name, row := range map[string]struct {
		ends  []end
		woken bool
		want  outcome
	}{
		"Posted":                     {[]end{p}, false, outcomePosted},
		"BothPosted":                 {[]end{p, p}, false, outcomePosted},
		"PostedThoughWoken":          {[]end{p, p}, true, outcomePosted},
		"OneDeadLetter":              {[]end{p, c}, false, outcomeComplete},
		"DeadLetters":                {[]end{c, c}, false, outcomeComplete},
		"NotRecorded":                {[]end{c}, false, outcomeComplete},
		"WorkerLost":                 {[]end{i}, false, outcomeIncomplete},
		"WorkerLostBesideAPost":      {[]end{p, i}, false, outcomeIncomplete},
		"WorkerLostBesideADeadOne":   {[]end{c, i}, false, outcomeIncomplete},
		"CanceledWhileWaiting":       {[]end{k}, false, outcomeCanceled},
		"BothCanceled":               {[]end{k, k}, false, outcomeCanceled},
		"CanceledBesideAPost":        {[]end{k, p}, false, outcomeIncomplete},
		"CanceledBesideAStaleOne":    {[]end{k, i}, false, outcomeIncomplete},
		"WokenAndCanceled":           {[]end{k}, true, outcomeWoken},
		"WokenBesideAPost":           {[]end{p, k}, true, outcomeWoken},
		"WokenBesideALostWorker":     {[]end{k, i}, true, outcomeWoken},
		"WokenAfterEverythingFailed": {[]end{c}, true, outcomeWoken},
	} {
		t.Run(name, func(t *testing.T) {
			got := results{targets: len(row.ends), isWoken: row.woken}
			for _, e := range row.ends {
				if got.isOver() {
					t.Error("it is over before every target has ended")
				}
				got.add(e)
			}
			if !got.isOver() || got.outcome() != row.want {
				t.Errorf("over %v, outcome %d, want %d", got.isOver(), got.outcome(), row.want)
			}
		})
	}
}

func TestRound_EndOfATarget(t *testing.T) {
	posted := delivery.TargetResult{Status: post.TargetPosted, Recorded: true}
	for name, row := range map[string]struct {
		result delivery.TargetResult
		err    error
		want   end
	}{
		"Posted":      {posted, nil, endPosted},
		"NotRecorded": {delivery.TargetResult{Status: post.TargetPosted}, nil, endComplete},
		"Failed":      {delivery.TargetResult{Status: post.TargetFailed, Recorded: true}, nil, endComplete},
		"Stale":       {delivery.TargetResult{Stale: true}, nil, endIncomplete},
		"StalePosted": {
			delivery.TargetResult{Stale: true, Status: post.TargetPosted, Recorded: true}, nil, endIncomplete,
		},
		"Canceled": {delivery.TargetResult{}, temporal.NewCanceledError(), endCanceled},
		"NotDue": {
			delivery.TargetResult{}, temporal.NewApplicationError("waits", activities.ErrNotDue), endCanceled,
		},
		"OtherFailure": {delivery.TargetResult{}, temporal.NewApplicationError("no", "throttled"), endIncomplete},
		"TimedOut":     {posted, errors.New("activity timed out"), endIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			if got := endOf(row.result, row.err); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

// A target that another round published counts, one that failed does not.
func TestRound_AllPosted(t *testing.T) {
	target := func(network string, status post.TargetStatus) delivery.TargetView {
		return delivery.TargetView{ID: [16]byte{network[0]}, Network: network, Status: status}
	}
	a, b := target("a", post.TargetScheduled), target("b", post.TargetScheduled)
	for name, row := range map[string]struct {
		all, published []delivery.TargetView
		want           bool
	}{
		"All":       {[]delivery.TargetView{a, b}, []delivery.TargetView{a, b}, true},
		"TheLast":   {[]delivery.TargetView{target("c", post.TargetPosted), b}, []delivery.TargetView{b}, true},
		"OneFailed": {[]delivery.TargetView{target("c", post.TargetFailed), b}, []delivery.TargetView{b}, false},
		"OneIsStopped": {
			[]delivery.TargetView{b, target("c", post.TargetCanceled)}, []delivery.TargetView{b}, false,
		},
		"OneIsNewSince": {[]delivery.TargetView{a, b}, []delivery.TargetView{a}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := postRun{state: state{view: delivery.PostView{Targets: slices.Clone(row.all)}}}
			if got := r.allPosted(row.published); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if row.want && len(r.open()) > 0 {
				t.Errorf("still open: %v", r.open())
			}
		})
	}
}
