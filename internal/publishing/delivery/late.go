package delivery

import (
	"context"
	"fmt"
	"time"

	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// due is what lateness counts from: the post's time, or when a person asked for
// another round.
func (j *job) due() time.Time {
	if again := j.post.RedrivenAt; again != nil && again.After(j.post.ScheduledTime) {
		return *again
	}
	return j.post.ScheduledTime
}

// lateBy says why a target is not to be sent at the time given: its post's late
// policy would rather have it dropped. nil when it may go. A thread that has
// begun is never broken off.
func lateBy(j *job, at time.Time) *network.Error {
	due := j.due()
	if j.post.LateLimit == 0 || len(j.published) > 0 || !at.After(due.Add(j.post.LateLimit)) {
		return nil
	}
	return &network.Error{Class: network.Class(post.ReasonLate), Code: "too_late", Message: fmt.Sprintf(
		"It would go out more than %d minutes late, so it is dropped, as the post asks.", int(j.post.LateLimit.Minutes()))}
}

// tooLate drops a target that is out of time. A result means that it ended.
func (p *Publisher) tooLate(ctx context.Context, j *job, at time.Time) (*TargetResult, error) {
	late := lateBy(j, at)
	if late == nil {
		return nil, nil
	}
	result, err := p.failed(ctx, j, post.Call{Fence: j.target.Fence}, late)
	return &result, err
}
