package instagram_test

import (
	"testing"

	"dateline/platforms/fake"
	"dateline/platforms/graph/graphtest"
	"dateline/platforms/network"
)

func (d fixture) prepared(t *testing.T, s network.Submission) network.Submission {
	t.Helper()
	return graphtest.Prepare(t, d, d.account, s)
}

func (d fixture) inject(t *testing.T, faults ...fake.Fault) {
	t.Helper()
	graphtest.Inject(t, d.Server, faults...)
}
