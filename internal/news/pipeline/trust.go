package pipeline

import (
	"sync"

	"github.com/google/uuid"
)

// probation is for how many pages every reading by new selectors is compared
// with the generic one. After that it is one page in five.
const probation = 20

// trust remembers how far the selectors of each site can be trusted. Selectors
// that select something else do not come out empty: only comparing tells, and
// comparing costs as much as reading. A process that knows nothing of a site
// compares.
type trust struct {
	mu    sync.Mutex
	sites map[int32]trusted
}

type trusted struct {
	version  int
	pages    int
	doubtful bool // the last comparison went against the selectors
}

func (t *trust) check(domain int32, version int, page uuid.UUID) bool {
	if version == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.sites[domain]
	return !ok || known.version != version || known.pages <= probation || known.doubtful || sampled(page)
}

// note takes what the database says of a site after a page was read.
func (t *trust) note(domain int32, k Kept, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sites == nil || len(t.sites) >= mostCompiled {
		t.sites = map[int32]trusted{}
	}
	t.sites[domain] = trusted{version: k.Version, pages: k.Pages, doubtful: !found}
}
