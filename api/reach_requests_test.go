package api_test

import (
	"context"
	"net/url"

	"github.com/google/uuid"

	"dateline/internal/desk"
	"dateline/internal/people"
	"dateline/internal/post"
)

// request is what a client sends to an operation.
type request struct {
	args          []any // what stands in the path, in order
	query         string
	body          any
	contentType   string // of a body that is not JSON
	ifMatch       string
	authorization string // in place of a token
}

// reach says who may send an operation, and how a right request looks. It says
// so apart from the API's own table, so that neither is believed alone.
type reach struct {
	least people.Role // empty: everybody, without a token too
	own   bool        // about the session of the browser that asks: no token will do
	scope people.Scope
	build func(x *things) request
}

// reachable has every operation of openapi.yaml.
func reachable() map[string]reach {
	none := func(*things) request { return request{} }
	everybody := func(build func(*things) request) reach { return reach{build: build} }
	viewers := func(scope people.Scope, build func(*things) request) reach {
		return reach{least: people.Viewer, scope: scope, build: build}
	}
	authors := func(scope people.Scope, build func(*things) request) reach {
		return reach{least: people.Author, scope: scope, build: build}
	}
	editors := func(scope people.Scope, build func(*things) request) reach {
		return reach{least: people.Editor, scope: scope, build: build}
	}
	owners := func(scope people.Scope, build func(*things) request) reach {
		return reach{least: people.Owner, scope: scope, build: build}
	}

	ownSession := func(build func(*things) request) reach { return reach{least: people.Viewer, own: true, build: build} }

	// What many have in common.
	onPost := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.scheduled()}, body: body} }
	}
	onSeries := func(body any) func(*things) request {
		return func(x *things) request { id, _ := x.series(); return request{args: []any{id}, body: body} }
	}
	onOccurrence := func(x *things) request {
		id, occurrence := x.series()
		return request{args: []any{id}, body: object{"occurrence": occurrence}}
	}
	onWebhook := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.webhook()}, body: body} }
	}
	onSite := func(query string, body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.site().ID}, query: query, body: body} }
	}
	onFile := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.file()}, body: body} }
	}
	onLink := func(x *things) request { return request{args: []any{x.link()}} }
	newPost := func(x *things) request {
		return request{body: hello(object{"accounts": []any{x.account()}, "attachments": []any{x.file()}, "thread_parent_id": x.scheduled(),
			"scheduled_time": in(2 * 3600e9)})}
	}

	onSeed := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.seed().ID}, body: body} }
	}
	onDomain := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.domain()}, body: body} }
	}
	const lastYear = "from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"

	onArticle := func(x *things) request { return request{args: []any{x.article().ID}} }
	onSelectors := func(x *things) request {
		a := x.article()
		return request{args: []any{a.Domain, 1}}
	}
	onReading := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.article().Domain}, body: body} }
	}
	someConfig := object{"variants": []object{{"name": "a", "body": []string{"//article"}}}}

	onSaved := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.saved()}, body: body} }
	}

	return map[string]reach{
		"listArticles":           viewers(people.ArticlesRead, func(x *things) request { return request{query: "domain=" + x.article().Domain} }),
		"getArticle":             viewers(people.ArticlesRead, onArticle),
		"getArticleRaw":          editors(people.ArticlesRead, onArticle),
		"listArticleRevisions":   viewers(people.ArticlesRead, onArticle),
		"getArticleRevision":     viewers(people.ArticlesRead, func(x *things) request { return request{args: []any{x.article().ID, 1}} }),
		"similarArticles":        viewers(people.ArticlesRead, onArticle),
		"getReading":             viewers(people.ArticlesRead, onReading(nil)),
		"editReading":            editors(people.ArticlesWrite, onReading(object{"time_zone": "Europe/Paris"})),
		"listSelectors":          viewers(people.ArticlesRead, onReading(nil)),
		"addSelectors":           editors(people.ArticlesWrite, onReading(object{"config": someConfig})),
		"previewSelectors":       editors(people.ArticlesRead, onReading(object{"config": someConfig})),
		"rollBackSelectors":      editors(people.ArticlesWrite, onReading(nil)),
		"learnSelectors":         editors(people.ArticlesWrite, onReading(nil)),
		"getSelectors":           viewers(people.ArticlesRead, onSelectors),
		"activateSelectors":      editors(people.ArticlesWrite, onSelectors),
		"searchArticles":         viewers(people.ArticlesRead, func(*things) request { return request{query: "q=gold&facets=true"} }),
		"listSavedSearches":      viewers(people.ArticlesRead, none),
		"getSavedSearch":         viewers(people.ArticlesRead, onSaved(nil)),
		"createSavedSearch":      authors(people.ArticlesWrite, func(*things) request { return request{body: object{"name": "Gold", "query": "gold"}} }),
		"editSavedSearch":        authors(people.ArticlesWrite, onSaved(object{"name": "Silver"})),
		"deleteSavedSearch":      authors(people.ArticlesWrite, onSaved(nil)),
		"listSavedSearchMatches": viewers(people.ArticlesRead, onSaved(nil)),
		"openFeed":               authors(people.ArticlesWrite, onSaved(nil)),
		"closeFeed":              authors(people.ArticlesWrite, onSaved(nil)),
		"readFeed": everybody(func(x *things) request {
			id := x.saved()
			return request{args: []any{id, "rss"}, query: "token=" + x.feedToken(id)}
		}),

		"listSeeds": viewers(people.CrawlRead, func(x *things) request {
			return request{query: "domain=" + x.domain()}
		}),
		"getSeed": viewers(people.CrawlRead, onSeed(nil)),
		"createSeed": editors(people.CrawlWrite, func(*things) request {
			return request{body: object{"url": "https://" + uuid.NewString() + ".example/"}}
		}),
		"importSeeds": editors(people.CrawlWrite, func(*things) request {
			return request{body: object{"format": "list", "text": "https://other.example/"}}
		}),
		"editSeed":      editors(people.CrawlWrite, onSeed(object{"title": "Sports"})),
		"deleteSeed":    editors(people.CrawlWrite, onSeed(nil)),
		"listDomains":   viewers(people.CrawlRead, none),
		"getDomain":     viewers(people.CrawlRead, onDomain(nil)),
		"editDomain":    editors(people.CrawlWrite, onDomain(object{"render": false})),
		"pauseDomain":   editors(people.CrawlWrite, onDomain(nil)),
		"resumeDomain":  editors(people.CrawlWrite, onDomain(nil)),
		"runDomain":     editors(people.CrawlWrite, onDomain(nil)),
		"emptyFrontier": owners(people.CrawlWrite, onDomain(nil)),
		"downloadWARC":  editors(people.CrawlRead, func(x *things) request { return request{args: []any{x.domain()}, query: lastYear} }),
		"exportWARC":    editors(people.CrawlWrite, onDomain(object{"from": "2025-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"})),
		"getExport":     editors(people.CrawlRead, func(x *things) request { d, id := x.crawlExport(); return request{args: []any{d, id}} }),

		"live":               everybody(none),
		"ready":              everybody(none),
		"getSystem":          editors(people.WorkspaceRead, none),
		"completeConnection": everybody(func(x *things) request { return request{query: x.callback()} }),
		"chooseInBrowser": everybody(func(x *things) request {
			c := x.choice()
			return request{body: url.Values{"choice": {c.ID.String()}, "key": {c.Key}, "remote_id": {"1"}}.Encode(), contentType: "application/x-www-form-urlencoded"}
		}),

		"getSession":      ownSession(none),
		"switchWorkspace": ownSession(func(x *things) request { return request{body: object{"workspace_id": x.caller.WorkspaceID}} }),
		"listSessions":    ownSession(none),
		"endSession":      ownSession(func(*things) request { return request{args: []any{uuid.NewString()}} }),
		"endSessions":     ownSession(none),

		"schedulePost": authors(people.PostsWrite, newPost),
		"createPost":   authors(people.PostsWrite, newPost),
		"createPosts": authors(people.PostsWrite, func(x *things) request {
			return request{body: lines(hello(object{"accounts": []any{x.account()}})), contentType: "application/x-ndjson"}
		}),
		"listPosts": viewers(people.PostsRead, func(x *things) request {
			id, _ := x.series()
			return request{query: "account=" + x.account().String() + "&series=" + id.String()}
		}),
		"exportPosts": viewers(people.PostsRead, func(x *things) request {
			x.scheduled()
			return request{query: "account=" + x.account().String()}
		}),
		"getPost":      viewers(people.PostsRead, onPost(nil)),
		"postTimeline": viewers(people.PostsRead, onPost(nil)),
		"postEvents":   viewers(people.PostsRead, func(x *things) request { return request{args: []any{x.done()}} }),
		"workspaceEvents": viewers(people.PostsRead, func(x *things) request {
			return request{query: "account=" + x.account().String()}
		}),
		"editPost":   authors(people.PostsWrite, onPost(object{"content": "Changed"})),
		"cancelPost": authors(people.PostsWrite, onPost(nil)),
		"publishNow": authors(people.PostsWrite, onPost(nil)),
		"scheduleDraft": authors(people.PostsWrite, func(x *things) request {
			return request{args: []any{x.draft()}, body: object{"scheduled_time": in(3600e9)}}
		}),
		"previewPost": authors(people.PostsWrite, newPost),
		"submitPost": authors(people.PostsWrite, func(x *things) request {
			return request{args: []any{x.scheduled(func(d *desk.Draft) { d.Unfinished = true })}}
		}),
		"approvePost": editors(people.PostsWrite, func(x *things) request { return request{args: []any{x.waiting()}, ifMatch: "*"} }),
		"rejectPost": editors(people.PostsWrite, func(x *things) request {
			return request{args: []any{x.waiting()}, body: object{"note": "No"}}
		}),
		"retryPost": authors(people.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetFailed)
			return request{args: []any{id}, body: object{"targets": []any{target}}}
		}),
		"discardPost": authors(people.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{args: []any{id}}
		}),
		"confirmTarget": authors(people.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetUncertain)
			return request{args: []any{id, target}, body: object{"url": "https://social.example/@desk/" + someID().String()}}
		}),
		"sendTargetAgain": authors(people.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetUncertain)
			return request{args: []any{id, target}}
		}),
		"listDeadLetters": viewers(people.PostsRead, func(x *things) request {
			x.dead(post.TargetFailed)
			return request{query: "account=" + x.account().String()}
		}),
		"countDeadLetters": viewers(people.PostsRead, none),
		"retryDeadLetters": authors(people.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{body: object{"posts": []any{id}}}
		}),
		"discardDeadLetters": authors(people.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{body: object{"posts": []any{id}, "account": x.account()}}
		}),

		"createSeries": authors(people.PostsWrite, func(x *things) request {
			return request{body: object{"rule": "FREQ=DAILY;COUNT=1", "starts": in(48 * 3600e9)[:16],
				"template": object{"content": "Hello", "accounts": []any{x.account()}, "attachments": []any{x.file()}}}}
		}),
		"listSeries":      viewers(people.PostsRead, none),
		"getSeries":       viewers(people.PostsRead, onSeries(nil)),
		"editSeries":      authors(people.PostsWrite, onSeries(object{"rule": "FREQ=DAILY;COUNT=1"})),
		"endSeries":       authors(people.PostsWrite, onSeries(nil)),
		"pauseSeries":     authors(people.PostsWrite, onSeries(nil)),
		"listOccurrences": viewers(people.PostsRead, onSeries(nil)),
		"skipOccurrence":  authors(people.PostsWrite, onOccurrence),
		"resumeSeries": authors(people.PostsWrite, func(x *things) request {
			id, _ := x.series()
			x.change(id, func(ctx context.Context, g post.Guard) error {
				_, _, err := x.s.Desk.PauseSeries(ctx, g, true)
				return err
			})
			return request{args: []any{id}}
		}),
		"unskipOccurrence": authors(people.PostsWrite, func(x *things) request {
			id, occurrence := x.series()
			x.change(id, func(ctx context.Context, g post.Guard) error {
				_, _, err := x.s.Desk.Skip(ctx, g, occurrence, true)
				return err
			})
			return request{args: []any{id}, body: object{"occurrence": occurrence}}
		}),

		"listAccounts":  viewers(people.AccountsRead, none),
		"accountLimits": viewers(people.AccountsRead, func(x *things) request { return request{args: []any{x.account()}} }),
		"connectAccountWithToken": editors(people.AccountsWrite, func(x *things) request {
			return request{body: object{"network": "mastodon", "base_url": x.s.Fake.URL(), "access_token": x.atNetwork()}}
		}),
		"beginConnection": editors(people.AccountsWrite, func(x *things) request {
			return request{body: object{"network": "mastodon", "base_url": x.s.Fake.URL()}}
		}),
		"listNetworks": viewers(people.AccountsRead, none),
		"connectAccountByForm": editors(people.AccountsWrite, func(x *things) request {
			return request{body: object{"network": "mastodon", "sandbox": true, "values": object{"access_token": x.atNetwork()}}}
		}),
		"getAccount":    viewers(people.AccountsRead, func(x *things) request { return request{args: []any{x.account()}} }),
		"changeAccount": editors(people.AccountsWrite, func(x *things) request { return request{args: []any{x.account()}, body: object{"default": true}} }),
		"checkAccount":  editors(people.AccountsWrite, func(x *things) request { return request{args: []any{x.account()}} }),
		"reconnectAccount": editors(people.AccountsWrite, func(x *things) request {
			return request{args: []any{x.account()}}
		}),
		"disconnectAccount": editors(people.AccountsWrite, func(x *things) request {
			return request{args: []any{x.connected()}}
		}),
		"getAccountChoice": editors(people.AccountsRead, func(x *things) request { return request{args: []any{x.choice().ID}} }),
		"makeAccountChoice": editors(people.AccountsWrite, func(x *things) request {
			return request{args: []any{x.choice().ID}, body: object{"remote_ids": []string{"1"}}}
		}),

		"getMedia":        viewers(people.MediaRead, onFile(nil)),
		"getMediaContent": viewers(people.MediaRead, onFile(nil)),
		"getMediaFitness": viewers(people.MediaRead, onFile(nil)),
		"editMedia":       authors(people.MediaWrite, onFile(object{"alt_text": "Changed"})),
		"deleteMedia":     authors(people.MediaWrite, onFile(nil)),
		"listMedia":       viewers(people.MediaRead, none),
		"fetchMedia": authors(people.MediaWrite, func(x *things) request {
			return request{body: object{"url": x.onTheWeb()}}
		}),
		"beginMediaUpload":    authors(people.MediaWrite, func(*things) request { return request{body: object{"file_name": "a.png", "bytes": 9}} }),
		"getMediaUpload":      authors(people.MediaWrite, func(x *things) request { return request{args: []any{x.sent()}} }),
		"completeMediaUpload": authors(people.MediaWrite, func(x *things) request { return request{args: []any{x.sent()}} }),
		"uploadMedia": authors(people.MediaWrite, func(x *things) request {
			body, contentType := form(x.s.t, "file", string(picture(x.s.t)))
			return request{body: body.String(), contentType: contentType}
		}),

		"listWebhooks": editors(people.WebhooksRead, none),
		"createWebhook": editors(people.WebhooksWrite, func(x *things) request {
			x.noWebhooks()
			return request{body: object{"url": "https://hooks.example/dateline"}}
		}),
		"getWebhook":            editors(people.WebhooksRead, onWebhook(nil)),
		"editWebhook":           editors(people.WebhooksWrite, onWebhook(object{"description": "Changed"})),
		"deleteWebhook":         editors(people.WebhooksWrite, onWebhook(nil)),
		"rotateWebhookSecret":   editors(people.WebhooksWrite, onWebhook(nil)),
		"testWebhook":           editors(people.WebhooksWrite, onWebhook(nil)),
		"listWebhookDeliveries": editors(people.WebhooksRead, onWebhook(nil)),
		"redeliverDeadWebhooks": editors(people.WebhooksWrite, onWebhook(nil)),
		"redeliverWebhook": editors(people.WebhooksWrite, func(x *things) request {
			endpoint := x.webhook()
			return request{args: []any{endpoint, x.delivery(endpoint)}}
		}),

		"followLink":  everybody(onLink),
		"listLinks":   viewers(people.PostsRead, none),
		"getLink":     viewers(people.PostsRead, onLink),
		"createLink":  authors(people.PostsWrite, func(*things) request { return request{body: object{"url": "https://news.example/a"}} }),
		"disableLink": authors(people.PostsWrite, onLink),
		"enableLink":  authors(people.PostsWrite, onLink),
		"viewsHealth": viewers(people.ViewsRead, none),
		"eraseViews": owners(people.ViewsWrite, func(x *things) request {
			return request{body: object{"site_id": x.sitelike(), "visitor_hash": "00000000000000ff"}}
		}),
		"getViewErasure": owners(people.ViewsRead, func(x *things) request { return request{args: []any{x.erasure()}} }),
		"sendView": everybody(func(x *things) request {
			return request{body: object{"site": x.site().WriteKey, "page": "/a"}}
		}),
		"sendEvent": everybody(func(x *things) request {
			return request{body: object{"site": x.site().WriteKey, "page": "/a", "type": "click"}}
		}),
		"pixel":        everybody(func(x *things) request { return request{query: "page=/a&site=" + x.site().WriteKey} }),
		"tracker":      everybody(none),
		"publicCount":  everybody(func(x *things) request { return request{query: "page=/a&site=" + x.site().WriteKey} }),
		"publicBadge":  everybody(func(x *things) request { return request{query: "page=/a&site=" + x.site().WriteKey} }),
		"publicScript": everybody(func(x *things) request { return request{query: "page=/a&site=" + x.site().WriteKey} }),
		"sendHits": everybody(func(x *things) request {
			return request{body: []any{object{"page": "/a", "user": "1"}}, authorization: "Bearer " + x.secretOfSite()}
		}),

		"listSites": viewers(people.ViewsRead, none),
		"createSite": editors(people.ViewsWrite, func(x *things) request {
			x.noSites()
			return request{body: object{"name": "News"}}
		}),
		"getSite":          viewers(people.ViewsRead, onSite("", nil)),
		"editSite":         editors(people.ViewsWrite, onSite("", object{"name": "Renamed"})),
		"deleteSite":       owners(people.ViewsWrite, onSite("", nil)),
		"rotateSiteSecret": editors(people.ViewsWrite, onSite("", nil)),
		"pageStats":        viewers(people.ViewsRead, onSite("page=/a&page=/b", nil)),
		"pageSeries":       viewers(people.ViewsRead, onSite("page=/a", nil)),
		"pageFunnel":       viewers(people.ViewsRead, onSite("page=/a", nil)),
		"pageDimensions":   viewers(people.ViewsRead, onSite("page=/a", nil)),
		"pageFiltered":     viewers(people.ViewsRead, onSite("page=/a", nil)),
		"liveViews":        viewers(people.ViewsRead, onSite("page=/a", nil)),
		"postStats":        viewers(people.ViewsRead, onPost(nil)),
		"trending":         viewers(people.ViewsRead, func(x *things) request { return request{query: "site=" + x.site().ID.String()} }),

		"getMe":                   viewers("", none),
		"getWorkspace":            viewers(people.WorkspaceRead, none),
		"listWorkspaces":          viewers(people.WorkspaceRead, none),
		"editWorkspace":           owners(people.WorkspaceWrite, func(*things) request { return request{body: object{"name": "Renamed"}} }),
		"exportWorkspace":         owners(people.WorkspaceWrite, none),
		"listWorkspaceExports":    owners(people.WorkspaceRead, none),
		"getWorkspaceExport":      owners(people.WorkspaceRead, func(x *things) request { return request{args: []any{x.export()}} }),
		"downloadWorkspaceExport": owners(people.WorkspaceRead, func(x *things) request { return request{args: []any{x.export()}} }),
		"importWorkspace": owners(people.WorkspaceWrite, func(x *things) request {
			return request{body: emptyArchive(x), contentType: "application/zstd"}
		}),
		"createWorkspace": owners(people.WorkspaceWrite, func(*things) request {
			return request{body: object{"name": "Sports"}}
		}),
		"listMembers": editors(people.MembersRead, none),
		"inviteMember": owners(people.MembersWrite, func(*things) request {
			return request{body: object{"email": someID().String() + "@news.example", "role": "editor"}}
		}),
		"changeMember": owners(people.MembersWrite, func(x *things) request {
			return request{args: []any{x.member()}, body: object{"role": "viewer"}}
		}),
		"removeMember": owners(people.MembersWrite, func(x *things) request { return request{args: []any{x.member()}} }),
		"listTokens":   viewers(people.TokensRead, none),
		"createToken": viewers(people.TokensWrite, func(*things) request {
			return request{body: object{"name": "Robot", "scopes": []string{string(people.TokensWrite)}}}
		}),
		"revokeToken": viewers(people.TokensWrite, func(x *things) request { return request{args: []any{x.token()}} }),
		"listAudit": editors(people.AuditRead, func(x *things) request {
			return request{query: url.Values{"actor": {x.member().String()}, "object": {x.account().String()}}.Encode()}
		}),
	}
}
