package container

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// ResolveRefusal determines what a refusal of the publishing call means that
// reports that the container does not exist or is not ready. That is temporary
// for a new container, but the networks also report it for containers that
// expired or are published. It returns refused if the container's state cannot be
// read.
func ResolveRefusal(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, id string, refused *network.Error) *network.Error {
	status, err := m.Status(ctx, id)
	if err != nil {
		if e := network.AsError(err); e.Class == network.Rejected {
			// The network does not know the container: its outcome is unknown.
			refused.Class = network.Ambiguous
		}
		return refused
	}
	settled := *refused
	switch problem := status.check(name); {
	case status.State == Published:
		settled.Class = network.Ambiguous
		settled.Message = name + " reports that the prepared post is already published."
	case problem != nil:
		settled.Class, settled.Code, settled.Message = problem.Class, problem.Code, problem.Message
	default:
		settled.Class = network.Transient
		if settled.RetryAt.IsZero() {
			settled.RetryAt = time.Now().Add(3 * time.Second)
		}
	}
	return &settled
}
