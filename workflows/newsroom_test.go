package workflows_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// opening is when every test begins.
var opening = time.Date(2026, 12, 24, 9, 0, 0, 0, time.UTC)

// newsroom stands in for database, scheduling and networks: one post, changed by the
// same rules. Its exported methods are the activities.
type newsroom struct {
	id  uuid.UUID
	now func() time.Time

	mu          sync.Mutex
	view        delivery.PostView
	sent        []sentTarget
	calls       int
	refused     []string // commands that were refused
	readErrs    int      // number of reads that fail first
	reads       int
	commandErrs int
	// publish replaces a network's response; nil posts immediately.
	publish func(ctx context.Context, in delivery.TargetInput) (delivery.TargetResult, error)
	steps   []webhook.Step // of a webhook's delivery, in order
	tried   int
	// prepare replaces preparation; nil is done immediately.
	prepare  func(ctx context.Context, in delivery.TargetInput) error
	prepared []preparation
	commands []delivery.Command
	// meanwhile is called by the activity of that name while it runs, once.
	meanwhile map[string]func()
	// lostResults is how many results of commands are lost after they were applied.
	lostResults int
	results     map[string]delivery.Refusal // by the commands' keys
	// View counts: whether another worker flushes, and whether they were compared.
	busy, checked bool
}

// preparation is one attempt to prepare a target.
type preparation struct {
	in delivery.TargetInput
	at time.Time
}

type sentTarget struct {
	target uuid.UUID
	at     time.Time
}

var errDatabase = errors.New("the database does not respond")

// newRoom creates a post that is due an hour after opening.
func newRoom(networks ...string) *newsroom {
	n := &newsroom{id: uuid.New(), now: time.Now, view: delivery.PostView{
		Status:        post.Scheduled,
		ScheduledTime: opening.Add(time.Hour), TimeZone: "Asia/Ho_Chi_Minh", Revision: 1,
	}}
	for _, name := range networks {
		n.view.Targets = append(n.view.Targets, delivery.TargetView{
			ID: uuid.New(), AccountID: uuid.New(), Network: name, Status: post.TargetScheduled,
		})
	}
	return n
}

// ReadPost implements the activity of that name.
func (n *newsroom) ReadPost(context.Context, uuid.UUID) (delivery.PostView, error) {
	n.interrupt("ReadPost")
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reads++
	if n.readErrs > 0 {
		n.readErrs--
		return delivery.PostView{}, errDatabase
	}
	return n.current(), nil
}

// interrupt lets something happen while an activity runs.
func (n *newsroom) interrupt(activity string) {
	n.mu.Lock()
	happen := n.meanwhile[activity]
	delete(n.meanwhile, activity)
	n.mu.Unlock()
	if happen != nil {
		happen()
	}
}

// current returns the post as a workflow sees it.
func (n *newsroom) current() delivery.PostView {
	v := n.view
	v.Targets = slices.Clone(v.Targets)
	open := slices.DeleteFunc(slices.Clone(v.Targets), func(t delivery.TargetView) bool { return !t.Status.IsOpen() })
	v.Deferred = v.Status == post.Scheduled && len(open) == 1
	return v
}

// ApplyCommand implements the activity of that name.
func (n *newsroom) ApplyCommand(_ context.Context, c delivery.Command) (delivery.Refusal, error) {
	n.interrupt("ApplyCommand")
	n.mu.Lock()
	defer n.mu.Unlock()
	if result, ended := n.results[c.Key]; ended {
		return result, nil
	}
	result, err := n.apply(c)
	if err != nil {
		return result, err
	}
	if n.results == nil {
		n.results = map[string]delivery.Refusal{}
	}
	n.results[c.Key] = result
	if n.lostResults > 0 {
		n.lostResults--
		return delivery.Refusal{}, errDatabase
	}
	return result, nil
}

func (n *newsroom) apply(c delivery.Command) (delivery.Refusal, error) {
	if n.commandErrs > 0 {
		n.commandErrs--
		return delivery.Refusal{}, errDatabase
	}
	n.commands = append(n.commands, c)
	v := &n.view
	empty := c.Edit.Content == nil && c.Edit.ScheduledTime == nil && c.Edit.TimeZone == nil
	dead := v.Status == post.Failed || v.Status == post.PartlyPosted
	allowed := v.Status == post.Scheduled || v.Status == post.Draft
	switch c.Name {
	case workflows.SignalRetry, workflows.SignalDiscard:
		allowed = n.decide(c)
	case workflows.SignalEdit:
		allowed = (allowed || dead) && !empty
	}
	if c.InputError != "" || !allowed {
		n.refused = append(n.refused, c.Name)
		return delivery.Refusal{Code: "not_allowed", Reason: "It is too late."}, nil
	}
	switch c.Name {
	case workflows.SignalRetry, workflows.SignalDiscard:
		n.rollUp()
		return delivery.Refusal{}, nil // the text stays the same
	case workflows.SignalCancel:
		v.Status = post.Canceled
		for i := range v.Targets {
			v.Targets[i].Status = post.TargetCanceled
		}
	case workflows.SignalPublishNow:
		v.ScheduledTime = n.now().UTC()
	default:
		if c.Edit.ScheduledTime != nil {
			at, err := time.Parse(time.RFC3339, *c.Edit.ScheduledTime)
			if err != nil {
				return delivery.Refusal{}, err
			}
			v.ScheduledTime = at
		}
		if dead {
			n.decide(delivery.Command{Name: workflows.SignalRetry})
			n.rollUp()
		}
	}
	v.Revision++
	return delivery.Refusal{}, nil
}

// decide retries or discards dead letters, and reports whether there were any.
func (n *newsroom) decide(c delivery.Command) (found bool) {
	if c.InputError != "" {
		return false
	}
	for i, t := range n.view.Targets {
		meant := len(c.Targets) == 0 || slices.Contains(c.Targets, t.ID)
		switch {
		case !meant:
		case c.Name == workflows.SignalDiscard && t.Status.Dead():
			n.view.Targets[i].Status, found = post.TargetCanceled, true
		case c.Name == workflows.SignalRetry && t.Status == post.TargetFailed:
			n.view.Targets[i].Status, found = post.TargetScheduled, true
		}
	}
	return found
}

// rollUp derives the post's status from its targets', like the database.
func (n *newsroom) rollUp() {
	v, counts := &n.view, map[post.TargetStatus]int{}
	dead := false
	for _, t := range v.Targets {
		counts[t.Status]++
		dead = dead || t.Status.Dead()
	}
	switch all := len(v.Targets); {
	case counts[post.TargetScheduled] > 0 && counts[post.TargetScheduled]+counts[post.TargetCanceled] == all:
		v.Status = post.Scheduled
	case counts[post.TargetScheduled]+counts[post.TargetPublishing]+counts[post.TargetUncertain] > 0:
		v.Status = post.Publishing
	case counts[post.TargetPosted] == all:
		v.Status = post.Posted
	case counts[post.TargetPosted] > 0:
		v.Status = post.PartlyPosted
	case counts[post.TargetCanceled] == all:
		v.Status = post.Canceled
	default:
		v.Status = post.Failed
	}
	v.ParkedUntil = time.Time{}
	if dead {
		v.ParkedUntil = n.now().Add(post.ParkTimeout).UTC()
	}
}

// PublishTarget implements the activity of that name.
func (n *newsroom) PublishTarget(ctx context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
	n.mu.Lock()
	if left := in.NotBefore.Sub(n.now()); left > 0 {
		n.mu.Unlock()
		return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("it waits", activities.ErrNotDue,
			temporal.ApplicationErrorOptions{NextRetryDelay: left, Category: temporal.ApplicationErrorCategoryBenign})
	}
	n.calls++
	publish := n.publish
	n.mu.Unlock()
	if publish != nil {
		return publish(ctx, in)
	}
	return n.post(in), nil
}

// PrepareTarget implements the activity of that name.
func (n *newsroom) PrepareTarget(ctx context.Context, in delivery.TargetInput) error {
	n.mu.Lock()
	n.prepared = append(n.prepared, preparation{in, n.now()})
	prepare := n.prepare
	n.mu.Unlock()
	if prepare != nil {
		return prepare(ctx, in)
	}
	return nil
}

// ReconcilePosts implements the activity of that name.
func (n *newsroom) ReconcilePosts(context.Context) (delivery.RecoveryResult, error) {
	return delivery.RecoveryResult{Signaled: 2}, nil
}

// FlushViews implements the activity of that name.
func (n *newsroom) FlushViews(context.Context) (activities.FlushResult, error) {
	return activities.FlushResult{Batches: 16, Pages: 300, Busy: n.busy}, nil
}

// CheckViews implements the activity of that name.
func (n *newsroom) CheckViews(context.Context) (activities.CheckResult, error) {
	n.checked = true
	return activities.CheckResult{Done: true, Compared: 900}, nil
}

// MaintainViews implements the activity of that name.
func (n *newsroom) MaintainViews(context.Context) (activities.MaintainViewsResult, error) {
	return activities.MaintainViewsResult{Sketched: 300}, nil
}

// AttemptDelivery implements the activity of that name.
func (n *newsroom) AttemptDelivery(context.Context, uuid.UUID) (webhook.Step, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tried++
	return n.steps[n.tried-1], nil
}

func (n *newsroom) attempts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tried
}

// post publishes if the post is unchanged since the workflow's decision.
func (n *newsroom) post(in delivery.TargetInput) delivery.TargetResult {
	return n.finish(in, post.TargetPosted)
}

// finish ends a target if the post is unchanged since the workflow's decision.
func (n *newsroom) finish(in delivery.TargetInput, status post.TargetStatus) delivery.TargetResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := &n.view
	if v.Revision != in.Revision || v.Status.IsFinal() {
		return delivery.TargetResult{Stale: true}
	}
	for i := range v.Targets {
		if v.Targets[i].ID == in.TargetID {
			v.Targets[i].Status = status
		} else if v.Targets[i].Status == post.TargetScheduled {
			v.Targets[i].Status = post.TargetPublishing
		}
	}
	if status == post.TargetPosted {
		n.sent = append(n.sent, sentTarget{in.TargetID, n.now()})
	}
	n.rollUp()
	return delivery.TargetResult{Status: status, Recorded: true}
}

// change is a change by the API: it changes the row without a signal.
func (n *newsroom) change(f func(v *delivery.PostView)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(&n.view)
	n.view.Revision++
}

func (n *newsroom) refusals() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.refused)
}

// run is one workflow in the time-skipping environment.
type run struct {
	*testsuite.TestWorkflowEnvironment
	t    *testing.T
	room *newsroom
}

func newRun(t *testing.T, room *newsroom) *run {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(opening)
	env.SetTestTimeout(20 * time.Second)
	env.RegisterWorkflowWithOptions(workflows.Post, workflow.RegisterOptions{Name: workflows.PostWorkflow})
	env.RegisterActivity(room)
	room.now = env.Now
	return &run{env, t, room}
}

// at calls a function at a time after the start.
func (r *run) at(after time.Duration, do func()) { r.RegisterDelayedCallback(do, after) }

// end executes the workflow and returns its result and error.
func (r *run) end() (post.Status, error) {
	r.t.Helper()
	r.ExecuteWorkflow(workflows.PostWorkflow, workflows.PostInput{PostID: r.room.id})
	if !r.IsWorkflowCompleted() {
		r.t.Fatal("the workflow did not end")
	}
	if err := r.GetWorkflowError(); err != nil {
		return "", err
	}
	var result workflows.PostResult
	if err := r.GetWorkflowResult(&result); err != nil {
		r.t.Fatal(err)
	}
	return post.Status(result.Status), nil
}

func (r *run) wantEnd(want post.Status) {
	r.t.Helper()
	got, err := r.end()
	if err != nil || got != want {
		r.t.Fatalf("ended %q with error %v, want %q", got, err, want)
	}
}

// wantSent checks how often and when the post was sent.
func (r *run) wantSent(at ...time.Time) {
	r.t.Helper()
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	if len(r.room.sent) != len(at) {
		r.t.Fatalf("sent %v, want %d times", r.room.sent, len(at))
	}
	for i, want := range at {
		// Dispatched a second early; the real activity waits for the time.
		if got := r.room.sent[i].at; got.Before(want.Add(-time.Second)) || got.After(want.Add(time.Second)) {
			r.t.Errorf("sent at %s, want %s", got, want)
		}
	}
}

// details returns the workflow's details in the Web UI.
func (r *run) details() string {
	r.t.Helper()
	answer, err := r.QueryWorkflow("__temporal_workflow_metadata")
	var metadata sdkpb.WorkflowMetadata
	if err == nil {
		err = answer.Get(&metadata)
	}
	if err != nil {
		r.t.Error(err)
	}
	return metadata.CurrentDetails
}

func containsAll(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// quiet drops the environment's log.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
