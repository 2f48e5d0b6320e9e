package news

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// ReserveTokens reserves tokens of the LLM's daily budget and returns the day they count
// for. ok is false if they exceed the budget.
func (s *ArticleStore) ReserveTokens(ctx context.Context, tokens, budget int64) (day time.Time, ok bool, err error) {
	d, err := s.q.ReserveTokens(ctx, db.ReserveTokensParams{Tokens: tokens, Budget: budget})
	if tx.NoRows(err) {
		return day, false, nil
	}
	return d.Time, err == nil, err
}

// AdjustTokens corrects the usage of a day by a positive or negative number of tokens.
func (s *ArticleStore) AdjustTokens(ctx context.Context, day time.Time, tokens int64) error {
	return s.q.AdjustTokens(ctx, db.AdjustTokensParams{Day: pgtype.Date{Time: day, Valid: true}, Tokens: tokens})
}

// TokensToday returns the tokens used today.
func (s *ArticleStore) TokensToday(ctx context.Context) (int64, error) {
	return s.q.CountTokensToday(ctx)
}
