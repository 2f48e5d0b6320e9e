package container

import (
	"context"
	"time"

	"dateline/platforms/network"
)

// ResolveRefusal finds out what a refusal of the publishing call means that says that
// the container is not there or not ready: that passes for one that was made a
// moment ago, but it is also what is said of one that is gone, or published.
// refused is what is said where the container cannot be asked.
func ResolveRefusal(ctx context.Context, name string, m interface {
	Status(ctx context.Context, id string) (Status, error)
}, id string, refused *network.Error) *network.Error {
	status, err := m.Status(ctx, id)
	if err != nil {
		if e := network.AsError(err); e.Class == network.Rejected {
			// The network does not know it: nobody can say what became of it.
			refused.Class = network.Ambiguous
		}
		return refused
	}
	settled := *refused
	switch problem := status.check(name); {
	case status.State == Published:
		settled.Class = network.Ambiguous
		settled.Message = name + " says that the prepared post is published already."
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
