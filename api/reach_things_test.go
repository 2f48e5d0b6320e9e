package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/sharedlink"
	"dateline/internal/audience/shortlink"
	"dateline/internal/audience/site"
	"dateline/internal/audience/statsimport"
	"dateline/internal/audience/subscription"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/webpage"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/news/pipeline"
	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/label"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/review"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/publishing/snippet"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/mastodon"
)

// things creates the resources that requests name. They belong to the first workspace;
// unknown ones do not exist.
type things struct {
	s          *server
	caller     workspace.Principal
	unknown    bool
	given      bool // the request names a resource
	ownAccount account.Account
}

// thing returns a resource of make, or one that does not exist.
func thing[T any](x *things, nowhere T, make func() T) T {
	x.given = true
	if x.unknown {
		return nowhere
	}
	return make()
}

func someID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

func (x *things) account() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.ownAccount.ID })
}

// pictured returns an account with a stored picture.
func (x *things) pictured() uuid.UUID {
	id := x.account()
	if !x.unknown {
		x.s.Exec("update accounts set avatar_url = 'https://pictures.example/desk' where id = $1", id)
		x.s.Must(x.s.Store.Publishing.Accounts.SaveAvatar(context.Background(), id, account.Avatar{
			URL: "https://pictures.example/desk", Image: []byte("\xff\xd8\xff"),
		}))
	}
	return id
}

func (x *things) group() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		g, err := (&account.Groups{Store: x.s.Store.Publishing.Accounts}).Create(context.Background(), x.s.Owner,
			account.Group{
				Name: someID().String(), Color: "blue",
				AccountIDs: []uuid.UUID{x.ownAccount.ID}, TimeZone: "UTC", Slots: []account.Slot{
					{Weekday: 1, Time: "07:30"},
				},
			})
		x.s.Must(err)
		return g.ID
	})
}

// queued returns a post in the queue of a group.
func (x *things) queued() (group, queued uuid.UUID) {
	group = x.group()
	if x.unknown {
		return group, someID()
	}
	return group, x.s.Schedule(func(d *scheduling.Draft) {
		d.ScheduledTime, d.When, d.QueueGroupID, d.Accounts = "", scheduling.NextFree, group.String(), []string{
			x.ownAccount.ID.String(),
		}
	}).ID
}

// subscription gives a recipient whose last email is dead.
func (x *things) subscription() subscription.Subscription {
	return thing(x, subscription.Subscription{ID: someID(), SiteID: someID()}, func() subscription.Subscription {
		ctx := context.Background()
		s, err := subscriptions(x.s.Store).Create(ctx, x.s.Owner, x.site().ID, subscription.Weekly, "a@news.example",
			webpage.English)
		x.s.Must(err)
		x.s.Must(x.s.Store.Audience.Subscriptions.AddEmail(ctx, subscription.Email{
			ID: someID(), WorkspaceID: s.WorkspaceID, SubscriptionID: s.ID, To: s.Email,
		}))
		x.s.Exec("update emails set status = 'dead'")
		return s
	})
}

func (x *things) statsImport() statsimport.Import {
	return thing(x, statsimport.Import{ID: someID(), SiteID: someID()}, func() statsimport.Import {
		i, err := (&statsimport.Service{Store: x.s.Store.Audience.Sites}).Import(context.Background(), x.s.Owner, x.site().ID,
			statsimport.GoatCounter, strings.NewReader(goatCounterExport))
		x.s.Must(err)
		return i
	})
}

func (x *things) sharedLink() sharedlink.Link {
	return thing(x, sharedlink.Link{ID: someID(), SiteID: someID()}, func() sharedlink.Link {
		l, _, err := sharedLinks(x.s.Store).Create(context.Background(), x.s.Owner, x.site().ID, sharedlink.Draft{
			Name: "Board",
		})
		x.s.Must(err)
		return l
	})
}

func (x *things) label() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		l, err := (&label.Labels{Store: x.s.Store.Publishing.Labels}).Create(context.Background(), x.s.Owner, label.Label{
			Kind: label.Plain, Name: someID().String(), Color: "blue",
		})
		x.s.Must(err)
		return l.ID
	})
}

func (x *things) comment() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		author := x.s.Owner
		if x.caller.WorkspaceID == author.WorkspaceID {
			author = x.caller // members delete only their own comments
		}
		c, err := (&review.Reviews{Store: x.s.Store.Publishing.Reviews, Notifier: x.s.Scheduler.Notifier}).Comment(context.Background(),
			author, x.s.Schedule().ID, "Check the name.", nil)
		x.s.Must(err)
		return c.ID
	})
}

// reviewLink gives a review link and its secret.
func (x *things) reviewLink(change ...func(*scheduling.Draft)) (id uuid.UUID, plain string) {
	post := x.waiting(change...)
	if x.unknown {
		return someID(), "unknown"
	}
	l, text, err := (&review.Reviews{Store: x.s.Store.Publishing.Reviews}).CreateLink(context.Background(), x.s.Owner, post, "Legal", 1)
	x.s.Must(err)
	return l.ID, text.Reveal()
}

func (x *things) snippet() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		one, err := (&snippet.Snippets{Store: x.s.Store.Publishing.Snippets}).Create(context.Background(), x.s.Owner, snippet.Snippet{
			Kind: snippet.Text, Name: someID().String(), Text: "Good morning.",
		})
		x.s.Must(err)
		return one.ID
	})
}

func (x *things) scheduled(change ...func(*scheduling.Draft)) uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.s.Schedule(change...).ID })
}

func (x *things) draft() uuid.UUID {
	return x.scheduled(func(d *scheduling.Draft) { d.SaveAsDraft, d.ScheduledTime = true, "" })
}

// waiting returns a post that is pending approval.
func (x *things) waiting(change ...func(*scheduling.Draft)) uuid.UUID {
	id := x.scheduled(append(change, func(d *scheduling.Draft) { d.SaveAsDraft = true })...)
	x.change(id, func(ctx context.Context, g post.Guard) error {
		_, err := x.s.Scheduler.Submit(ctx, g)
		return err
	})
	return id
}

// rejected returns a post whose author shall change it.
func (x *things) rejected() uuid.UUID {
	id := x.waiting()
	x.change(id, func(ctx context.Context, g post.Guard) error {
		_, err := x.s.Scheduler.Reject(ctx, g, "No")
		return err
	})
	return id
}

// dead returns a dead letter: its post and its target.
func (x *things) dead(status post.TargetStatus) (postID, target uuid.UUID) {
	p := thing(x, post.Post{ID: someID(), Targets: []post.Target{{ID: someID()}}}, func() post.Post {
		return x.s.Dead(x.s.Schedule(), status)
	})
	return p.ID, p.Targets[0].ID
}

// posted returns a post that is published, and its target.
func (x *things) posted() (postID, target uuid.UUID) {
	return x.dead(post.TargetPosted)
}

// done returns a post in a final state.
func (x *things) done() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.s.Dead(x.s.Schedule(), post.TargetPosted).ID })
}

// series returns a series with upcoming occurrences and the first of them.
func (x *things) series() (id uuid.UUID, occurrence string) {
	day := time.Now().AddDate(0, 0, 2).Format("2006-01-02")
	id = thing(x, someID(), func() uuid.UUID {
		made, _, _, err := x.s.Scheduler.CreateSeries(x.s.t.Context(), x.s.Owner,
			scheduling.SeriesDraft{
				Rule: "FREQ=DAILY;COUNT=2", Starts: day + "T07:00",
				Template: scheduling.Draft{Content: "Hello"},
			}, idempotency.Key{})
		x.s.Must(err)
		return made.ID
	})
	return id, day + "T07:00"
}

func (x *things) change(id uuid.UUID, how func(context.Context, post.Guard) error) {
	if !x.unknown {
		x.s.Must(how(x.s.t.Context(), post.Guard{WorkspaceID: x.s.Workspace.ID, PostID: id, Actor: x.s.Owner.Actor()}))
	}
}

// demo makes the first workspace's owner the owner of the demo.
func (x *things) demo() {
	_, err := x.s.Store.Identity.Workspaces.CreateDemo(context.Background(),
		workspace.Workspace{ID: someID(), Name: "Demo", TimeZone: "UTC"}, x.s.Owner.UserID)
	x.s.Must(err)
}

// export returns an export whose archive exists.
func (x *things) export() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		archives := x.s.archives()
		job, err := archives.Start(x.s.t.Context(), x.s.Owner)
		x.s.Must(err)
		_, err = archives.Write(x.s.t.Context(), job.ID)
		x.s.Must(err)
		return job.ID
	})
}

func (x *things) file() uuid.UUID {
	return thing(x, media.Item{ID: someID()}, func() media.Item {
		item, err := x.s.Media.Upload(x.s.t.Context(), x.s.Owner, "a.png", "", bytes.NewReader(picture(x.s.t)))
		x.s.Must(err)
		return item
	}).ID
}

// sent returns an upload whose bytes have arrived.
func (x *things) sent() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		content := picture(x.s.t)
		ticket, err := x.s.Media.StartUpload(x.s.t.Context(), x.s.Owner, media.UploadRequest{
			FileName: "a.png", Bytes: int64(len(content)),
		})
		x.s.Must(err)
		r, err := http.NewRequestWithContext(x.s.t.Context(), ticket.Single.Method, ticket.Single.URL,
			bytes.NewReader(content))
		x.s.Must(err)
		answer, err := http.DefaultClient.Do(r)
		x.s.Must(err)
		x.s.Must(answer.Body.Close())
		return ticket.ID
	})
}

// onTheWeb returns the URL of a picture.
func (x *things) onTheWeb() string {
	content := picture(x.s.t)
	x.s.Media.Web = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Request: r, Header: http.Header{},
			Body: io.NopCloser(bytes.NewReader(content)),
		}, nil
	})}
	return "https://pictures.example/a.png"
}

// noSites deletes the sites: their number per workspace is limited.
func (x *things) noSites() { x.s.Exec("delete from sites") }

func (x *things) site() site.Site {
	return thing(x, site.Site{ID: someID()}, func() site.Site {
		x.noSites()
		made, _ := x.s.Site()
		return made
	})
}

func (x *things) secretOfSite() string {
	x.noSites()
	_, key := x.s.Site()
	return key
}

// noWebhooks deletes the webhooks: their number per workspace is limited.
func (x *things) noWebhooks() { x.s.Exec("delete from webhook_endpoints") }

func (x *things) webhook() uuid.UUID {
	return thing(x, webhook.Endpoint{ID: someID()}, func() webhook.Endpoint {
		x.noWebhooks()
		e, _, _, err := x.s.Webhooks.Create(x.s.t.Context(), x.s.Owner, "https://hooks.example/dateline", "", nil,
			idempotency.Key{})
		x.s.Must(err)
		return e
	}).ID
}

// noChannels deletes the notification channels: their number per member is limited.
func (x *things) noChannels() { x.s.Exec("delete from notification_channels") }

// channel returns a notification channel of the caller, or of another member if the
// caller is in another workspace.
func (x *things) channel() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		of := x.caller
		if of.WorkspaceID != x.s.Workspace.ID {
			of = x.s.Owner
		}
		x.noChannels()
		url := "https://ntfy.example/desk"
		c, err := notifications(x.s.Newsroom).Create(x.s.t.Context(), of, notification.Draft{
			Kind: notification.Ntfy, Name: "Phone", URL: &url, Types: []string{"post.failed"},
			Digest: notification.NoDigest, TimeZone: "UTC", Language: "en",
		})
		x.s.Must(err)
		return c.ID
	})
}

func (x *things) link() string {
	return thing(x, "0000000000", func() string {
		l, _, err := (&shortlink.Service{Store: x.s.Store.Audience.Links, BaseURL: x.s.Scheduler.LinkBase}).Create(x.s.t.Context(),
			x.s.Owner, shortlink.Draft{URL: "https://news.example/a"}, idempotency.Key{})
		x.s.Must(err)
		return l.Code
	})
}

// sitelike is the site under which a workspace's posts and links are counted.
func (x *things) sitelike() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.s.Workspace.ID })
}

func (x *things) erasure() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		e, err := x.s.Store.Audience.Views.CreateViewErasure(x.s.t.Context(), flush.Erasure{
			ID: uuid.New(), Workspace: x.s.Workspace.ID, Site: x.s.Workspace.ID, RequestedBy: x.s.Owner.UserID,
		})
		x.s.Must(err)
		return e.ID
	})
}

func (x *things) delivery(endpoint uuid.UUID) uuid.UUID {
	return thing(x, webhook.Delivery{ID: someID()}, func() webhook.Delivery {
		d, err := x.s.Webhooks.Test(x.s.t.Context(), x.s.Owner, endpoint)
		x.s.Must(err)
		return d
	}).ID
}

func (x *things) member() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.s.Join(x.s.Workspace, workspace.Author).UserID })
}

// memberWithLink returns a member who has a login link.
func (x *things) memberWithLink() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		m := x.s.Join(x.s.Workspace, workspace.Author).UserID
		_, err := x.s.Store.Identity.Logins.PutMemberLoginLink(x.s.t.Context(), x.s.Workspace.ID, m,
			workspace.HashToken(someID().String()), time.Now().Add(time.Hour))
		x.s.Must(err)
		return m
	})
}

// token returns a token that the caller may revoke if it belongs to the first
// workspace.
func (x *things) token() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID {
		of := x.caller
		if of.WorkspaceID != x.s.Workspace.ID {
			of = x.s.Owner
		}
		t, _ := workspace.NewToken(of.WorkspaceID, of.UserID, "of the desk")
		_, _, err := x.s.Store.Identity.Workspaces.CreateToken(x.s.t.Context(), t, idempotency.Key{})
		x.s.Must(err)
		return t.ID
	})
}

// atNetwork returns the token of a new account at the fake network.
func (x *things) atNetwork() string {
	there, err := x.s.Fake.AddAccount("a" + someID().String()[24:])
	x.s.Must(err)
	return there.Token
}

// connected returns an account that a request may disconnect.
func (x *things) connected() uuid.UUID {
	return thing(x, someID(), func() uuid.UUID { return x.s.Connect("b" + someID().String()[24:]).ID })
}

// choice returns a login of the first workspace that awaits a choice.
func (x *things) choice() account.Choice {
	return thing(x, account.Choice{ID: someID(), Key: "key"}, func() account.Choice {
		accounts := *x.s.Accounts
		adapter, _ := x.s.Networks.Get("mastodon")
		accounts.Connectors = registry{x.s.Networks, several{adapter.(*mastodon.Mastodon)}}
		made, err := accounts.ConnectForm(x.s.t.Context(), x.s.Owner, account.Instance{
			Network: "mastodon", Sandbox: true,
		},
			map[string]secret.Text{"access_token": secret.NewText(x.atNetwork())})
		x.s.Must(err)
		return *made.Choice
	})
}

// callback returns the query of a network's redirect.
func (x *things) callback() string {
	link, err := x.s.Accounts.StartAuthorization(x.s.t.Context(), x.s.Owner, account.Instance{
		Network: "mastodon", Sandbox: true,
	})
	x.s.Must(err)
	return newsroomtest.Consent(x.s.t, link).Encode()
}

// seed returns a seed on a domain of its own.
func (x *things) seed() crawl.Seed {
	return thing(x, crawl.Seed{ID: someID(), Domain: someID().String() + ".example"}, func() crawl.Seed {
		u, err := weburl.Parse("https://"+someID().String()+".example/", weburl.Rules{})
		x.s.Must(err)
		made, _, err := x.s.Store.News.Domains.CreateSeeds(x.s.t.Context(),
			[]crawl.Seed{{
				ID: someID(), WorkspaceID: x.s.Workspace.ID, URL: u, Kind: crawl.Home, Status: crawl.Active,
				MinInterval: 5 * time.Minute, MaxInterval: 20 * time.Minute, Interval: 15 * time.Minute,
				Rules: crawl.Rules{MaxDepth: 1},
			}}, idempotency.Key{})
		x.s.Must(err)
		return made[0]
	})
}

func (x *things) domain() string { return x.seed().Domain }

// crawlExport returns an export of the pages of a domain.
func (x *things) crawlExport() (domain string, id uuid.UUID) {
	domain = x.domain()
	return domain, thing(x, someID(), func() uuid.UUID {
		id := someID()
		x.s.Must(x.s.Store.News.Domains.CreateCrawlExport(x.s.t.Context(), x.s.Workspace.ID, id, domain))
		return id
	})
}

// mark returns the id of a mark on a domain.
func (x *things) mark(domain string) string {
	return thing(x, "t1", func() string {
		var out spec.Extraction
		x.s.decode(x.s.send("POST", domainsPath+"/"+domain+"/extraction/marks",
			object{"element": "main > div.box", "is_body": false}), 200, &out)
		return out.Marks[0].Id
	})
}

// article returns an article on a domain of its own, with active selectors.
func (x *things) article() pipeline.StoredArticle {
	return thing(x, pipeline.StoredArticle{ArticleSummary: pipeline.ArticleSummary{
		ID:     someID(),
		Domain: someID().String() + ".example",
	}}, func() pipeline.StoredArticle {
		return x.s.article(x.seed().Domain, "/1.html", paragraphs("river", 6))
	})
}
