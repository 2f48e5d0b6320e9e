package workflows_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/post"
	"dateline/workflows"
)

// opening is when every test begins.
var opening = time.Date(2026, 12, 24, 9, 0, 0, 0, time.UTC)

// newsroom stands for database, desk and networks: one post, changed by the
// same rules. Its exported methods are the activities.
type newsroom struct {
	id  uuid.UUID
	now func() time.Time

	mu       sync.Mutex
	view     activities.PostView
	sent     []delivery
	calls    int
	refused  []string // commands that were answered with a refusal
	readErrs int      // how often reading fails first
	obeyErrs int
	// publish replaces what a network does; nil posts at once.
	publish func(ctx context.Context, in activities.TargetInput) (activities.TargetResult, error)
	steps   []activities.DeliveryStep // of a webhook's delivery, in turn
	tried   int
}

type delivery struct {
	target uuid.UUID
	at     time.Time
}

var errDatabase = errors.New("the database does not answer")

// newRoom makes a post that is due an hour after opening.
func newRoom(networks ...string) *newsroom {
	n := &newsroom{id: uuid.New(), now: time.Now, view: activities.PostView{Status: post.Scheduled,
		ScheduledTime: opening.Add(time.Hour), TimeZone: "Asia/Ho_Chi_Minh", Revision: 1}}
	for _, name := range networks {
		n.view.Targets = append(n.view.Targets, activities.TargetView{ID: uuid.New(), AccountID: uuid.New(), Network: name, Status: post.TargetScheduled})
	}
	return n
}

// ReadPost is the activity of that name.
func (n *newsroom) ReadPost(context.Context, uuid.UUID) (activities.PostView, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.readErrs > 0 {
		n.readErrs--
		return activities.PostView{}, errDatabase
	}
	v := n.view
	v.Targets = slices.Clone(v.Targets)
	return v, nil
}

// Obey is the activity of that name.
func (n *newsroom) Obey(_ context.Context, c activities.Command) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.obeyErrs > 0 {
		n.obeyErrs--
		return errDatabase
	}
	v := &n.view
	empty := c.Edit.Content == nil && c.Edit.ScheduledTime == nil && c.Edit.TimeZone == nil
	if c.Broken != "" || (v.Status != post.Scheduled && v.Status != post.Draft) || c.Name == workflows.SignalEdit && empty {
		n.refused = append(n.refused, c.Name)
		return nil
	}
	switch c.Name {
	case workflows.SignalCancel:
		v.Status = post.Cancelled
		for i := range v.Targets {
			v.Targets[i].Status = post.TargetCancelled
		}
	case workflows.SignalPublishNow:
		v.ScheduledTime = n.now().UTC()
	default:
		if c.Edit.ScheduledTime != nil {
			at, err := time.Parse(time.RFC3339, *c.Edit.ScheduledTime)
			if err != nil {
				return err
			}
			v.ScheduledTime = at
		}
	}
	v.Revision++
	return nil
}

// PublishTarget is the activity of that name.
func (n *newsroom) PublishTarget(ctx context.Context, in activities.TargetInput) (activities.TargetResult, error) {
	n.mu.Lock()
	n.calls++
	publish := n.publish
	n.mu.Unlock()
	if publish != nil {
		return publish(ctx, in)
	}
	return n.post(in), nil
}

// PrepareTarget is the activity of that name.
func (n *newsroom) PrepareTarget(context.Context, activities.TargetInput) error { return nil }

// ReconcilePosts is the activity of that name.
func (n *newsroom) ReconcilePosts(context.Context) (activities.ReconcileResult, error) {
	return activities.ReconcileResult{Nudged: 2}, nil
}

// AttemptDelivery is the activity of that name.
func (n *newsroom) AttemptDelivery(context.Context, uuid.UUID) (activities.DeliveryStep, error) {
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

// post publishes, if the post is still what the workflow decided on.
func (n *newsroom) post(in activities.TargetInput) activities.TargetResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := &n.view
	if v.Revision != in.Revision || v.Status.Final() {
		return activities.TargetResult{Stale: true}
	}
	v.Status = post.Publishing
	open := false
	for i := range v.Targets {
		if v.Targets[i].ID == in.TargetID {
			v.Targets[i].Status = post.TargetPosted
			n.sent = append(n.sent, delivery{in.TargetID, n.now()})
		}
		open = open || v.Targets[i].Status.Open()
	}
	if !open {
		v.Status = post.Posted
	}
	return activities.TargetResult{Status: post.TargetPosted}
}

// change is what the API does: it changes the row behind the workflow's back.
func (n *newsroom) change(f func(v *activities.PostView)) {
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

// at does something when so much time has passed.
func (r *run) at(after time.Duration, do func()) { r.RegisterDelayedCallback(do, after) }

// end executes the workflow and gives its result and error.
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

// wantSent checks how often and when the post went out.
func (r *run) wantSent(at ...time.Time) {
	r.t.Helper()
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	if len(r.room.sent) != len(at) {
		r.t.Fatalf("sent %v, want %d times", r.room.sent, len(at))
	}
	for i, want := range at {
		// Dispatched a second before, where the real activity waits for the time.
		if got := r.room.sent[i].at; got.Before(want.Add(-time.Second)) || got.After(want.Add(time.Second)) {
			r.t.Errorf("sent at %s, want %s", got, want)
		}
	}
}

// quiet drops the environment's chatter.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
