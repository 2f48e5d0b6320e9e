package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/storage/postgres/db"
)

// ReserveTokens takes tokens from the day's budget of the language model, if they
// are left. day is the one that they count for.
func (s *Store) ReserveTokens(ctx context.Context, tokens, budget int64) (day time.Time, ok bool, err error) {
	d, err := s.q.ReserveTokens(ctx, db.ReserveTokensParams{Tokens: tokens, Budget: budget})
	if noRows(err) {
		return day, false, nil
	}
	return d.Time, err == nil, err
}

// AdjustTokens adds tokens to a day, or gives some back.
func (s *Store) AdjustTokens(ctx context.Context, day time.Time, tokens int64) error {
	return s.q.AdjustTokens(ctx, db.AdjustTokensParams{Day: pgtype.Date{Time: day, Valid: true}, Tokens: tokens})
}

// TokensToday counts the tokens that were used today.
func (s *Store) TokensToday(ctx context.Context) (int64, error) { return s.q.CountTokensToday(ctx) }
