package pipeline_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// With rules in any workspace, the transaction that stores, changes or removes an article
// queues it for them.
func TestRun_QueuesArticlesForRules(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 60)
	queued := func() int { return d.count("select count(*) from rule_articles") }
	first, second := p.next(), p.next()
	d.hand(first.url, first.html)
	d.read()
	require.Zero(t, queued(), "there is no rule")

	_, err := d.db.Exec(t.Context(), `with u as (insert into users (id, name) values ($1, 'Editor') returning id)
		insert into rules (id, workspace_id, user_id, name, definition) select $1, $2, u.id, 'Sports', '{}' from u`,
		uuid.New(), d.workspace.ID)
	require.NoError(t, err)
	d.hand(second.url, second.html)
	d.read()
	require.Equal(t, 1, queued(), "a new article")
	d.hand(second.url, second.html)
	d.read()
	require.Equal(t, 1, queued(), "an unchanged article")
	d.lose(second.url, "")
	d.read()
	require.Equal(t, 2, queued(), "a removed article")
	require.Equal(t, 2, d.count("select count(*) from rule_articles q join articles a on a.id = q.article_id where "+
		"a.canonical_url = $1", second.url))
}
