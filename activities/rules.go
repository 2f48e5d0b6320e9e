package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/rule"
)

// RuleEngine evaluates articles and creates posts: rule.Engine.
type RuleEngine interface {
	Evaluate(ctx context.Context, start rule.Start) (done int, changed []uuid.UUID, err error)
	Recover(ctx context.Context, start rule.Start) error
	EvaluateViews(ctx context.Context, start rule.Start) error
	Reserve(ctx context.Context, request rule.Request) (rule.Outcome, error)
	CreatePost(ctx context.Context, request rule.Request) (post uuid.UUID, outcome rule.Outcome, err error)
}

// DecisionWorkflows starts the workflow of a decision once.
type DecisionWorkflows interface {
	StartDecision(ctx context.Context, request rule.Request) error
}

// Rules contains the activities of rules.
type Rules struct {
	Engine   RuleEngine
	Starter  DecisionWorkflows
	Signaler PostSignaler
	Log      *slog.Logger
	Timing   RuleTiming
}

// RuleTiming configures the intervals of EvaluateArticles. Zero fields have defaults;
// tests shorten them.
type RuleTiming struct {
	MaxDuration  time.Duration // of one EvaluateArticles activity; 2 min
	PollInterval time.Duration // between polls of an empty queue; 1 s
}

// DecisionInput names a decision.
type DecisionInput = rule.Request

// DecisionResult is the result of a decision.
type DecisionResult struct {
	Outcome rule.Outcome
	PostID  uuid.UUID
}

// EvaluateArticles evaluates queued articles for a while and returns their number. It is
// idempotent and may run concurrently: articles are leased, and leave the queue once
// their decisions have started.
func (r *Rules) EvaluateArticles(ctx context.Context) (done int, err error) {
	duration, interval := r.Timing.MaxDuration, r.Timing.PollInterval
	if duration <= 0 {
		duration = 2 * time.Minute
	}
	if interval <= 0 {
		interval = time.Second
	}
	if err := r.Engine.Recover(ctx, r.Starter.StartDecision); err != nil {
		return 0, err
	}
	if err := r.Engine.EvaluateViews(ctx, r.Starter.StartDecision); err != nil {
		return 0, err
	}
	end := time.NewTimer(duration)
	defer end.Stop()
	for {
		n, changed, err := r.Engine.Evaluate(ctx, r.Starter.StartDecision)
		done += n
		for _, id := range changed {
			r.signal(ctx, id)
		}
		if err != nil {
			return done, err
		}
		activity.RecordHeartbeat(ctx, done)
		pause := interval
		if n > 0 {
			pause = 0
		}
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return done, nil
		case <-end.C:
			return done, nil
		case <-time.After(pause):
		}
	}
}

// ReserveDecision decides about an article. Repeated calls return the same.
func (r *Rules) ReserveDecision(ctx context.Context, in DecisionInput) (rule.Outcome, error) {
	return r.Engine.Reserve(ctx, in)
}

// CreateRulePost creates the post of a reserved decision and starts its workflow.
// Repeated calls create the same post.
func (r *Rules) CreateRulePost(ctx context.Context, in DecisionInput) (out DecisionResult, err error) {
	if out.PostID, out.Outcome, err = r.Engine.CreatePost(ctx, in); err != nil {
		return out, err
	}
	if out.Outcome == rule.Created {
		r.signal(ctx, out.PostID)
	}
	return out, nil
}

func (r *Rules) signal(ctx context.Context, post uuid.UUID) {
	if err := r.Signaler.SignalChanged(ctx, post); err != nil {
		r.Log.WarnContext(ctx, "signaling Temporal failed; the reconciler retries", "post_id", post, "error", err)
	}
}
