package postgres

import (
	"context"
	"time"
)

// Time returns the time of the database's clock, which all rows use.
func (s *Store) Time(ctx context.Context) (time.Time, error) { return s.q.DatabaseTime(ctx) }
