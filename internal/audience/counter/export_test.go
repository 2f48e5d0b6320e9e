package counter

import "context"

// CountWithoutVisits counts hits without the page loads from which visits are
// derived.
func (c *Counter) CountWithoutVisits(ctx context.Context, hits []Hit) ([]Outcome, error) {
	b := newBatch(c)
	b.withoutVisits = true
	for i := range hits {
		b.add(&hits[i])
	}
	return b.run(ctx)
}
