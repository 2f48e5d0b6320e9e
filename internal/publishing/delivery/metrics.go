package delivery

import (
	"context"
	"time"

	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Meter counts what the publisher does.
type Meter interface {
	// Outcome counts what came of a target: posted, failed, uncertain, retrying.
	Outcome(ctx context.Context, network, outcome string)
	// Late notes how long after its time a post was sent.
	Late(ctx context.Context, network string, by time.Duration)
	// Called notes a call of a network's API, with its use and its outcome class,
	// or ok.
	Called(ctx context.Context, network, use, result string, took time.Duration)
}

// count tells the meter of an outcome that was recorded.
func (p *Publisher) count(ctx context.Context, j *job, o post.Outcome) {
	if p.Meter == nil {
		return
	}
	switch o.Event {
	case post.EventPosted, post.EventFailed, post.EventUncertain, post.EventRetrying:
		p.Meter.Outcome(ctx, j.target.Network, o.Event)
	}
	if o.Segment == 0 && o.SentAt != nil && (o.Event == post.EventPosted || o.Event == post.EventSegment) {
		p.Meter.Late(ctx, j.target.Network, o.SentAt.Sub(j.due()))
	}
}

// called tells the meter of a call that was made.
func (p *Publisher) called(ctx context.Context, j *job, use network.CallKind, failure *network.Error, began time.Time) {
	if p.Meter == nil {
		return
	}
	result := "ok"
	if failure != nil {
		result = string(failure.Class)
	}
	p.Meter.Called(ctx, j.target.Network, string(use), result, time.Since(began))
}
