package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// fillBatch is how many posts one step of fillFingerprints reads.
const fillBatch = 500

// fillFingerprints notes the words of posts from before the column was there, so
// that a new post that repeats them is warned of. SQL cannot: how words are
// compared is package post's to say.
func (s *Store) fillFingerprints(ctx context.Context) error {
	for after := uuid.Nil; ; {
		rows, err := s.q.PostsWithoutFingerprint(ctx, db.PostsWithoutFingerprintParams{After: after, WithinSeconds: post.DuplicateWithin.Seconds(), Most: fillBatch})
		if err != nil {
			return fmt.Errorf("reading posts without fingerprint: %w", err)
		}
		for _, row := range rows {
			p, err := withTargets(ctx, s.q, row, nil)
			if err == nil {
				ids, fingerprints := fingerprintsOf(p)
				err = s.q.FillFingerprints(ctx, db.FillFingerprintsParams{Ids: ids, Fingerprints: fingerprints})
			}
			if err != nil {
				return fmt.Errorf("noting the fingerprint of %s: %w", row.PostID, err)
			}
			after = row.PostID
		}
		if len(rows) < fillBatch {
			return nil
		}
	}
}
