package postgres

import (
	"context"
	"time"
)

// Time asks what time it is by the database's clock, by which all rows live.
func (s *Store) Time(ctx context.Context) (time.Time, error) { return s.q.DatabaseTime(ctx) }
