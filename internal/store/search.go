package store

import "github.com/jackc/pgx/v5/pgxpool"

// Pool gives the connections to the search on Postgres, whose statements are
// made for each search (internal/search/pgsearch).
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
