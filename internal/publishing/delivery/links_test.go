package delivery_test

import (
	"strings"
	"testing"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// A post with tracked links is sent with the same short links in every attempt, and the
// network is searched for the same text.
func TestPublish_SameShortLinksInEveryAttempt(t *testing.T) {
	t.Parallel()
	const address = "https://news.example/flood?a=b"
	for name, connect := range map[string]func(b *bench) account.Account{
		"mastodon": func(b *bench) account.Account { return b.connect("desk") }, "linkedin": (*bench).member,
	} {
		for _, kind := range []fake.FaultKind{fake.ActThenReset, fake.ResetBefore} {
			t.Run(name+" "+string(kind), func(t *testing.T) {
				b := newBench(t, fake.Options{})
				p := b.schedule(func(p *post.Post) {
					p.Content, p.LinkBase = "Read "+address+".", "https://go.example/l/"
				}, connect(b).ID)
				path := "/api/v1/statuses"
				if name == "linkedin" {
					path = "/linkedin/rest/posts"
				}
				b.fault(fake.Fault{Kind: kind, Path: path})
				b.publish(b.publisher(), input(p))
				target, posts := b.read(p.ID).Targets[0], b.published()
				if target.Status != post.TargetPosted || len(posts) != 1 {
					t.Fatalf("%s %s, published %+v", target.Status, target.ErrorMessage, posts)
				}
				links := p.Links(target)
				if len(links) != 1 || !strings.Contains(posts[0].Text, links[0].Short) ||
					strings.Contains(posts[0].Text, "news.example") {
					t.Errorf("%q is published, with %+v", posts[0].Text, links)
				}
				l, found, err := b.store.Audience.Links.LinkByCode(t.Context(), links[0].Code)
				if b.must(err); !found || l.URL != address || *l.PostID != p.ID || *l.AccountID != target.AccountID {
					t.Errorf("%+v", l)
				}
			})
		}
	}
}
