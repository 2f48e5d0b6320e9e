package activities

import (
	"context"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/delivery"
)

// Publishing publishes posts, and reads and changes them for their workflows.
type Publishing struct {
	Publisher *delivery.Publisher
	Planner   *delivery.Planner
	Commands  *delivery.Commands
	Recovery  *delivery.Recovery
}

// PublishTarget publishes one target of a post, see delivery.Publisher.Publish.
func (p *Publishing) PublishTarget(ctx context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
	result, err := p.Publisher.Publish(ctx, attempt(ctx), in)
	return result, temporalError(err)
}

// PrepareTarget prepares one target ahead of its time, see
// delivery.Publisher.Prepare.
func (p *Publishing) PrepareTarget(ctx context.Context, in delivery.TargetInput) error {
	return temporalError(p.Publisher.Prepare(ctx, attempt(ctx), in))
}

// ReadPost reads a post for its workflow, see delivery.Planner.ReadPost.
func (p *Publishing) ReadPost(ctx context.Context, id uuid.UUID) (delivery.PostView, error) {
	view, err := p.Planner.ReadPost(ctx, id)
	return view, temporalError(err)
}

// ApplyCommand applies an operator's signal or update, see delivery.Commands.Apply.
func (p *Publishing) ApplyCommand(ctx context.Context, c delivery.Command) (delivery.Refusal, error) {
	refusal, err := p.Commands.Apply(ctx, c)
	return refusal, temporalError(err)
}

// ReconcilePosts brings posts and their workflows together, see
// delivery.Recovery.Run.
func (p *Publishing) ReconcilePosts(ctx context.Context) (delivery.RecoveryResult, error) {
	return p.Recovery.Run(ctx, func(done int) { activity.RecordHeartbeat(ctx, done) })
}

// attempt describes the running activity.
func attempt(ctx context.Context) delivery.Attempt {
	info := activity.GetInfo(ctx)
	return delivery.Attempt{
		Number: int(info.Attempt), HeartbeatTimeout: info.HeartbeatTimeout,
		Heartbeat: func() { activity.RecordHeartbeat(ctx) },
	}
}
