package counter

import (
	"context"
	"slices"
)

// CountWithoutVisits counts hits without the page loads from which visits are
// derived.
func (c *Counter) CountWithoutVisits(ctx context.Context, hits []Hit) ([]Outcome, error) {
	b := c.newBatch()
	b.separateVisits = true
	for i := range hits {
		b.add(&hits[i])
	}
	for _, call := range b.calls {
		call.groups = slices.DeleteFunc(call.groups, func(g *hitGroup) bool { return g.key.isOfVisits() })
	}
	return b.run(ctx)
}
