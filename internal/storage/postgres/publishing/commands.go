package publishing

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// FindCommand returns the result of a command that has ended.
func (s *LedgerStore) FindCommand(ctx context.Context, postID uuid.UUID, key string) (delivery.Refusal, bool, error) {
	refusal, err := findCommand(ctx, s.q, postID, key)
	if tx.NoRows(err) {
		return delivery.Refusal{}, false, nil
	}
	return refusal, err == nil, err
}

func findCommand(ctx context.Context, q *queries, postID uuid.UUID, key string) (delivery.Refusal, error) {
	row, err := q.FindCommand(ctx, db.FindCommandParams{PostID: postID, Key: key})
	return delivery.Refusal{Code: row.Code, Reason: row.Reason}, err
}

// RecordCommand records that a command is applied, also if it changed nothing.
func (s *LedgerStore) RecordCommand(ctx context.Context, g post.Guard) error {
	_, err := s.q.RecordCommand(ctx, db.RecordCommandParams{PostID: g.PostID, Key: g.CommandKey})
	return err
}

// RefuseCommand records a refusal in the post's timeline. If another run of the command
// has ended, it returns the result of that.
func (s *LedgerStore) RefuseCommand(
	ctx context.Context, g post.Guard, name string, refusal delivery.Refusal,
) (result delivery.Refusal, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockPost(ctx, g.PostID)
		if err != nil {
			return err
		}
		first, err := q.RecordCommand(ctx, db.RecordCommandParams{
			PostID: g.PostID, Key: g.CommandKey, Code: refusal.Code, Reason: refusal.Reason,
		})
		if err != nil {
			return err
		}
		if first == 0 {
			result, err = findCommand(ctx, q, g.PostID, g.CommandKey)
			return err
		}
		result = refusal
		return addEvent(ctx, q, row, nil, post.EventRefused, g.Actor, map[string]any{
			"asked": name, "code": refusal.Code, "reason": refusal.Reason,
		})
	})
	return result, err
}

// errCommandEnded rolls a change back that another run of the command has made.
var errCommandEnded = errors.New("the command was applied by another run of it")

// recordCommand records the command of a change in its transaction.
func recordCommand(ctx context.Context, q *queries, g post.Guard) error {
	if g.CommandKey == "" {
		return nil // not a command of an operator
	}
	first, err := q.RecordCommand(ctx, db.RecordCommandParams{PostID: g.PostID, Key: g.CommandKey})
	if err == nil && first == 0 {
		return errCommandEnded
	}
	return err
}
