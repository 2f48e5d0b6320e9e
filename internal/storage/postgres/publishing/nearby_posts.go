package publishing

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
)

// spotsBatch is how many spots one statement looks around.
const spotsBatch = 2000

// NearbyPosts returns, for each spot, at most one other post with the same text and one
// that is close in time.
func (s *PostStore) NearbyPosts(
	ctx context.Context, workspaceID uuid.UUID, spots []post.Slot,
) (near []post.NearbyPost, err error) {
	for from := 0; from < len(spots); from += spotsBatch {
		in := db.NearbyPostsParams{
			WorkspaceID: workspaceID, SameSeconds: post.DuplicateWindow.Seconds(),
			NearSeconds: post.ConflictWindow.Seconds(),
		}
		for i, at := range spots[from:min(from+spotsBatch, len(spots))] {
			in.Ns, in.PostIds = append(in.Ns, from+i), append(in.PostIds, at.PostID)
			in.SeriesIds, in.AccountIds = append(in.SeriesIds, at.SeriesID), append(in.AccountIds, at.AccountID)
			in.Ats, in.Fingerprints = append(in.Ats, at.At), append(in.Fingerprints, column.List(at.Fingerprint))
		}
		rows, err := s.q.NearbyPosts(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			near = append(near, post.NearbyPost{
				Slot: r.N, SameText: r.Same, PostID: r.PostID, At: r.At.UTC(), Published: r.Published,
			})
		}
	}
	return near, nil
}
