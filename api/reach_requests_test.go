package api_test

import (
	"context"
	"net/url"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// request is a client's request to an operation.
type request struct {
	args          []any // values of the path's parameters, in order
	query         string
	queryRequired bool // also of a list without filters
	queryNames    bool // the query names something of the workspace
	body          any
	contentType   string // of a body that is not JSON
	ifMatch       string
	authorization string // instead of a token
}

// reach lists who may call an operation and a valid request. It is independent of the
// API's contract, so that each checks the other.
type reach struct {
	least workspace.Role // empty: public, also without a token
	own   bool           // requires a browser's session; tokens are refused
	scope workspace.Scope
	build func(x *things) request
}

// reachable has every operation of openapi.yaml.
func reachable() map[string]reach {
	none := func(*things) request { return request{} }
	everybody := func(build func(*things) request) reach { return reach{build: build} }
	viewers := func(scope workspace.Scope, build func(*things) request) reach {
		return reach{least: workspace.Viewer, scope: scope, build: build}
	}
	authors := func(scope workspace.Scope, build func(*things) request) reach {
		return reach{least: workspace.Author, scope: scope, build: build}
	}
	editors := func(scope workspace.Scope, build func(*things) request) reach {
		return reach{least: workspace.Editor, scope: scope, build: build}
	}
	owners := func(scope workspace.Scope, build func(*things) request) reach {
		return reach{least: workspace.Owner, scope: scope, build: build}
	}

	ownSession := func(build func(*things) request) reach {
		return reach{least: workspace.Viewer, own: true, build: build}
	}

	// Shared by many operations.
	onRule := func(withBody bool) func(*things) request {
		return func(x *things) request {
			r := request{args: []any{x.rule()}}
			if withBody {
				r.body = x.newRule()
			}
			return r
		}
	}
	onStory := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.story()}, body: body} }
	}
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
	settings := object{
		"kind": "ntfy", "name": "Phone", "url": "https://ntfy.example/desk",
		"types": []string{"post.failed"}, "time_zone": "UTC",
	}
	onChannel := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.channel()}, body: body} }
	}
	onSite := func(query string, body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.site().ID}, query: query, body: body} }
	}
	onPlausible := func(query string) func(*things) request {
		return func(x *things) request {
			return request{query: "site_id=" + x.site().ID.String() + query, queryNames: true}
		}
	}
	onFile := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.file()}, body: body} }
	}
	onLink := func(x *things) request { return request{args: []any{x.link()}} }
	newPost := func(x *things) request {
		return request{body: hello(object{
			"accounts": []any{x.account()}, "attachments": []any{x.file()},
			"thread_parent_id": x.scheduled(),
			"scheduled_time":   in(2 * 3600e9),
		})}
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
	onExtraction := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.article().Domain}, body: body} }
	}
	someConfig := object{"variants": []object{{"name": "a", "body": []string{"//article"}}}}

	onWatch := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.watch()}, body: body} }
	}
	onSaved := func(body any) func(*things) request {
		return func(x *things) request { return request{args: []any{x.saved()}, body: body} }
	}

	return map[string]reach{
		"listStories": viewers(workspace.ArticlesRead, none),
		"getStory":    viewers(workspace.ArticlesRead, onStory(nil)),
		"mergeStory": editors(workspace.CrawlWrite, func(x *things) request {
			return request{args: []any{x.story()}, body: object{"story_id": x.story()}}
		}),
		"splitStory": editors(workspace.CrawlWrite, func(x *things) request {
			id := x.storyOfTwo()
			return request{args: []any{id}, body: object{"article_ids": []any{id}}}
		}),
		"moveStoryArticles": editors(workspace.CrawlWrite, func(x *things) request {
			id := x.story()
			return request{args: []any{id}, body: object{"story_id": x.story(), "article_ids": []any{id}}}
		}),
		"setStoryHeadline": editors(workspace.CrawlWrite, func(x *things) request {
			id := x.story()
			return request{args: []any{id}, body: object{"article_id": id}}
		}),
		"muteStory":        editors(workspace.CrawlWrite, onStory(nil)),
		"createStoryDraft": authors(workspace.PostsWrite, onStory(nil)),
		"undoStoryEvent": editors(workspace.CrawlWrite, func(x *things) request {
			return request{args: []any{x.storyEvent()}}
		}),
		"getStoryPreferences": viewers(workspace.ArticlesRead, none),
		"setStoryPreferences": editors(workspace.CrawlWrite, func(*things) request {
			return request{
				body: object{
					"alert_enabled": true, "min_owners": 5, "max_age_hours": 12, "create_draft": false,
					"owners": object{},
				},
			}
		}),
		"listArticles": viewers(workspace.ArticlesRead, func(x *things) request {
			return request{query: "domain=" + x.article().Domain}
		}),
		"getArticle":           viewers(workspace.ArticlesRead, onArticle),
		"downloadArticlePage":  editors(workspace.ArticlesRead, onArticle),
		"listArticleRevisions": viewers(workspace.ArticlesRead, onArticle),
		"getArticleRevision": viewers(workspace.ArticlesRead, func(x *things) request {
			return request{args: []any{x.article().ID, 1}}
		}),
		"similarArticles":    viewers(workspace.ArticlesRead, onArticle),
		"getExtraction":      viewers(workspace.ArticlesRead, onExtraction(nil)),
		"updateExtraction":   editors(workspace.ArticlesWrite, onExtraction(object{"time_zone": "Europe/Paris"})),
		"listExtractedPages": viewers(workspace.ArticlesRead, onExtraction(nil)),
		"getExtractedPage": viewers(workspace.ArticlesRead, func(x *things) request {
			a := x.article()
			return request{args: []any{a.Domain, a.ID}}
		}),
		"addExtractionMark": editors(workspace.ArticlesWrite, onExtraction(object{"element": "div.box", "is_body": false})),
		"deleteExtractionMark": editors(workspace.ArticlesWrite, func(x *things) request {
			domain := x.article().Domain
			return request{args: []any{domain, x.mark(domain)}}
		}),
		"listSelectors":     viewers(workspace.ArticlesRead, onExtraction(nil)),
		"addSelectors":      editors(workspace.ArticlesWrite, onExtraction(object{"config": someConfig})),
		"previewSelectors":  editors(workspace.ArticlesRead, onExtraction(object{"config": someConfig})),
		"rollBackSelectors": editors(workspace.ArticlesWrite, onExtraction(nil)),
		"learnSelectors":    editors(workspace.ArticlesWrite, onExtraction(nil)),
		"getSelectors":      viewers(workspace.ArticlesRead, onSelectors),
		"activateSelectors": editors(workspace.ArticlesWrite, onSelectors),
		"searchArticles": viewers(workspace.ArticlesRead, func(*things) request {
			return request{query: "q=gold&facets=true"}
		}),
		"getSearchRebuild":    editors(workspace.ArticlesRead, none),
		"rebuildSearch":       owners(workspace.ArticlesWrite, none),
		"cancelSearchRebuild": owners(workspace.ArticlesWrite, none),
		"listSavedSearches":   viewers(workspace.ArticlesRead, none),
		"getSavedSearch":      viewers(workspace.ArticlesRead, onSaved(nil)),
		"createSavedSearch": authors(workspace.ArticlesWrite, func(*things) request {
			return request{body: object{"name": "Gold", "query": "gold"}}
		}),
		"updateSavedSearch": authors(workspace.ArticlesWrite, onSaved(object{"name": "Silver"})),
		"deleteSavedSearch": authors(workspace.ArticlesWrite, onSaved(nil)),
		"listWatches":       viewers(workspace.ArticlesRead, none),
		"getWatch":          viewers(workspace.ArticlesRead, onWatch(nil)),
		"listWatchChanges":  viewers(workspace.ArticlesRead, onWatch(nil)),
		"createWatch": authors(workspace.ArticlesWrite, func(*things) request {
			return request{body: object{"name": "Prices", "url": "https://ministry.example/prices"}}
		}),
		"updateWatch":            authors(workspace.ArticlesWrite, onWatch(object{"name": "Fees"})),
		"deleteWatch":            authors(workspace.ArticlesWrite, onWatch(nil)),
		"checkWatch":             authors(workspace.ArticlesWrite, onWatch(nil)),
		"listSavedSearchMatches": viewers(workspace.ArticlesRead, onSaved(nil)),
		"createFeed":             authors(workspace.ArticlesWrite, onSaved(nil)),
		"deleteFeed":             authors(workspace.ArticlesWrite, onSaved(nil)),
		"getFeed": everybody(func(x *things) request {
			id := x.saved()
			return request{args: []any{id, "rss"}, query: "token=" + x.feedToken(id)}
		}),

		"listSeeds": viewers(workspace.CrawlRead, func(x *things) request {
			return request{query: "domain=" + x.domain()}
		}),
		"getSeed": viewers(workspace.CrawlRead, onSeed(nil)),
		"createSeed": editors(workspace.CrawlWrite, func(*things) request {
			return request{body: object{"url": "https://" + uuid.NewString() + ".example/"}}
		}),
		"importSeeds": editors(workspace.CrawlWrite, func(*things) request {
			return request{body: object{"format": "list", "text": "https://other.example/"}}
		}),
		"updateSeed":    editors(workspace.CrawlWrite, onSeed(object{"title": "Sports"})),
		"deleteSeed":    editors(workspace.CrawlWrite, onSeed(nil)),
		"listDomains":   viewers(workspace.CrawlRead, none),
		"getDomain":     viewers(workspace.CrawlRead, onDomain(nil)),
		"updateDomain":  editors(workspace.CrawlWrite, onDomain(object{"render": false})),
		"pauseDomain":   editors(workspace.CrawlWrite, onDomain(nil)),
		"resumeDomain":  editors(workspace.CrawlWrite, onDomain(nil)),
		"runDomain":     editors(workspace.CrawlWrite, onDomain(nil)),
		"emptyFrontier": owners(workspace.CrawlWrite, onDomain(nil)),
		"downloadWARC": editors(workspace.CrawlRead, func(x *things) request {
			return request{args: []any{x.domain()}, query: lastYear}
		}),
		"exportWARC": editors(workspace.CrawlWrite,
			onDomain(object{"from": "2025-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"})),
		"getExport": editors(workspace.CrawlRead, func(x *things) request {
			d, id := x.crawlExport()
			return request{args: []any{d, id}}
		}),

		"live":               everybody(none),
		"ready":              everybody(none),
		"getSystem":          editors(workspace.WorkspaceRead, none),
		"completeConnection": everybody(func(x *things) request { return request{query: x.callback()} }),
		"chooseInBrowser": everybody(func(x *things) request {
			c := x.choice()
			return request{
				body:        url.Values{"choice": {c.ID.String()}, "key": {c.Key}, "remote_id": {"1"}}.Encode(),
				contentType: "application/x-www-form-urlencoded",
			}
		}),

		"getSession": ownSession(none),
		"switchWorkspace": ownSession(func(x *things) request {
			return request{body: object{"workspace_id": x.caller.WorkspaceID}}
		}),
		"listSessions":   ownSession(none),
		"revokeSession":  ownSession(func(*things) request { return request{args: []any{uuid.NewString()}} }),
		"revokeSessions": ownSession(none),

		"schedulePost": authors(workspace.PostsWrite, newPost),
		"createPost":   authors(workspace.PostsWrite, newPost),
		"createPosts": authors(workspace.PostsWrite, func(x *things) request {
			return request{
				body:        lines(hello(object{"accounts": []any{x.account()}})),
				contentType: "application/x-ndjson",
			}
		}),
		"listPosts": viewers(workspace.PostsRead, func(x *things) request {
			id, _ := x.series()
			return request{query: "account=" + x.account().String() + "&series=" + id.String()}
		}),
		"exportPosts": viewers(workspace.PostsRead, func(x *things) request {
			x.scheduled()
			return request{query: "account=" + x.account().String()}
		}),
		"getPost":      viewers(workspace.PostsRead, onPost(nil)),
		"postTimeline": viewers(workspace.PostsRead, onPost(nil)),
		"postEvents":   viewers(workspace.PostsRead, func(x *things) request { return request{args: []any{x.done()}} }),
		"workspaceEvents": viewers(workspace.PostsRead, func(x *things) request {
			return request{query: "account=" + x.account().String()}
		}),
		"editPost":   authors(workspace.PostsWrite, onPost(object{"content": "Changed"})),
		"cancelPost": authors(workspace.PostsWrite, onPost(nil)),
		"publishNow": authors(workspace.PostsWrite, onPost(nil)),
		"scheduleDraft": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.draft()}, body: object{"scheduled_time": in(3600e9)}}
		}),
		"previewPost": authors(workspace.PostsWrite, newPost),
		"submitPost": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.scheduled(func(d *scheduling.Draft) { d.SaveAsDraft = true })}}
		}),
		"approvePost": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.waiting()}, ifMatch: "*"}
		}),
		"rejectPost": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.waiting()}, body: object{"note": "No"}}
		}),
		"reopenPost": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.rejected()}}
		}),
		"retryPost": authors(workspace.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetFailed)
			return request{args: []any{id}, body: object{"targets": []any{target}}}
		}),
		"discardPost": authors(workspace.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{args: []any{id}}
		}),
		"confirmTarget": authors(workspace.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetUncertain)
			return request{args: []any{id, target}, body: object{
				"url": "https://social.example/@desk/" + someID().String(),
			}}
		}),
		"deletePublished": editors(workspace.PostsWrite, func(x *things) request {
			id, target := x.posted()
			return request{args: []any{id, target}}
		}),
		"resendTarget": authors(workspace.PostsWrite, func(x *things) request {
			id, target := x.dead(post.TargetUncertain)
			return request{args: []any{id, target}}
		}),
		"listDeadLetters": viewers(workspace.PostsRead, func(x *things) request {
			x.dead(post.TargetFailed)
			return request{query: "account=" + x.account().String()}
		}),
		"countDeadLetters": viewers(workspace.PostsRead, none),
		"retryDeadLetters": authors(workspace.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{body: object{"posts": []any{id}}}
		}),
		"discardDeadLetters": authors(workspace.PostsWrite, func(x *things) request {
			id, _ := x.dead(post.TargetFailed)
			return request{body: object{"posts": []any{id}, "account": x.account()}}
		}),

		"createSeries": authors(workspace.PostsWrite, func(x *things) request {
			return request{body: object{
				"rule": "FREQ=DAILY;COUNT=1", "starts": in(48 * 3600e9)[:16],
				"template": object{"content": "Hello", "accounts": []any{x.account()}, "attachments": []any{x.file()}},
			}}
		}),
		"listSeries":      viewers(workspace.PostsRead, none),
		"getSeries":       viewers(workspace.PostsRead, onSeries(nil)),
		"editSeries":      authors(workspace.PostsWrite, onSeries(object{"rule": "FREQ=DAILY;COUNT=1"})),
		"endSeries":       authors(workspace.PostsWrite, onSeries(nil)),
		"pauseSeries":     authors(workspace.PostsWrite, onSeries(nil)),
		"listOccurrences": viewers(workspace.PostsRead, onSeries(nil)),
		"skipOccurrence":  authors(workspace.PostsWrite, onOccurrence),
		"resumeSeries": authors(workspace.PostsWrite, func(x *things) request {
			id, _ := x.series()
			x.change(id, func(ctx context.Context, g post.Guard) error {
				_, _, err := x.s.Scheduler.SetSeriesPaused(ctx, g, true)
				return err
			})
			return request{args: []any{id}}
		}),
		"unskipOccurrence": authors(workspace.PostsWrite, func(x *things) request {
			id, occurrence := x.series()
			x.change(id, func(ctx context.Context, g post.Guard) error {
				_, _, err := x.s.Scheduler.SetOccurrenceSkipped(ctx, g, occurrence, true)
				return err
			})
			return request{args: []any{id}, body: object{"occurrence": occurrence}}
		}),

		"getLinkCard": authors(workspace.PostsWrite, func(*things) request {
			return request{query: "url=" + url.QueryEscape("https://news.example/flood"), queryRequired: true}
		}),
		"listComments": viewers(workspace.PostsRead, func(x *things) request {
			return request{args: []any{x.scheduled()}}
		}),
		"addComment": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.scheduled()}, body: object{"text": "Check the name."}}
		}),
		"deleteComment": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.comment()}}
		}),
		"listReviewLinks": viewers(workspace.PostsRead, func(x *things) request {
			return request{args: []any{x.scheduled()}}
		}),
		"createReviewLink": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.waiting()}, body: object{"name": "Legal"}}
		}),
		"revokeReviewLink": editors(workspace.PostsWrite, func(x *things) request {
			l, _ := x.reviewLink()
			return request{args: []any{l}}
		}),
		"showReview": everybody(func(x *things) request {
			_, secret := x.reviewLink()
			return request{args: []any{secret}}
		}),
		"decideReview": everybody(func(x *things) request {
			_, secret := x.reviewLink()
			return request{
				args: []any{secret}, body: url.Values{"decision": {"approve"}}.Encode(),
				contentType: "application/x-www-form-urlencoded",
			}
		}),
		"getReviewFile": everybody(func(x *things) request {
			file := x.file()
			_, secret := x.reviewLink(func(d *scheduling.Draft) { d.Attachments = []string{file.String()} })
			return request{args: []any{secret, file}}
		}),

		"listRules": viewers(workspace.PostsRead, none),
		"getRule":   viewers(workspace.PostsRead, onRule(false)),
		"createRule": editors(workspace.PostsWrite, func(x *things) request {
			return request{body: x.newRule()}
		}),
		"previewRule": editors(workspace.PostsWrite, func(x *things) request {
			return request{body: x.newRule()}
		}),
		"updateRule": editors(workspace.PostsWrite, onRule(true)),
		"pauseRule":  editors(workspace.PostsWrite, onRule(false)),
		"resumeRule": editors(workspace.PostsWrite, onRule(false)),
		"deleteRule": editors(workspace.PostsWrite, onRule(false)),
		"listRuleDecisions": viewers(workspace.PostsRead, func(*things) request {
			return request{query: "outcome=created"}
		}),
		"resolveRuleDecision": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.decision()}}
		}),

		"listSnippets": viewers(workspace.PostsRead, none),
		"createSnippet": authors(workspace.PostsWrite, func(*things) request {
			return request{body: object{"name": "Greeting " + uuid.NewString(), "text": "Good morning."}}
		}),
		"updateSnippet": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.snippet()}, body: object{"text": "Good evening."}}
		}),
		"deleteSnippet": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.snippet()}}
		}),

		"listLabels": viewers(workspace.PostsRead, none),
		"createLabel": authors(workspace.PostsWrite, func(*things) request {
			return request{body: object{"name": "Flood " + uuid.NewString()}}
		}),
		"updateLabel": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.label()}, body: object{"name": "Storm " + uuid.NewString()}}
		}),
		"deleteLabel": editors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.label()}}
		}),
		"labelPosts": authors(workspace.PostsWrite, func(x *things) request {
			return request{body: object{"posts": []any{x.s.Schedule().ID}, "add": []any{x.label()}}}
		}),

		"listAccountGroups": viewers(workspace.AccountsRead, none),
		"createAccountGroup": editors(workspace.AccountsWrite, func(x *things) request {
			return request{
				body: object{
					"name": "Sports desk " + uuid.NewString(), "accounts": []any{x.account()},
					"slots": []any{object{"weekday": 1, "time": "07:30"}},
				},
			}
		}),
		"updateAccountGroup": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.group()}, body: object{"name": "World desk " + uuid.NewString()}}
		}),
		"deleteAccountGroup": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.group()}}
		}),
		"reorderQueue": authors(workspace.PostsWrite, func(x *things) request {
			group, queued := x.queued()
			return request{args: []any{group}, body: object{"post_id": queued}}
		}),
		"listQueueSlots": viewers(workspace.PostsRead, func(*things) request {
			return request{query: "from=2030-01-01T00:00:00Z&to=2030-01-08T00:00:00Z", queryRequired: true}
		}),
		"listAccounts": viewers(workspace.AccountsRead, none),
		"findMentions": authors(workspace.PostsWrite, func(x *things) request {
			return request{args: []any{x.account()}, query: "q=desk", queryRequired: true}
		}),
		"getAccountAvatar": viewers(workspace.AccountsRead, func(x *things) request {
			return request{args: []any{x.pictured()}}
		}),
		"accountLimits": viewers(workspace.AccountsRead, func(x *things) request {
			return request{args: []any{x.account()}}
		}),
		"connectAccountWithToken": editors(workspace.AccountsWrite, func(x *things) request {
			return request{
				body: object{"network": "mastodon", "base_url": x.s.Fake.URL(), "access_token": x.atNetwork()},
			}
		}),
		"startConnection": editors(workspace.AccountsWrite, func(x *things) request {
			return request{body: object{"network": "mastodon", "base_url": x.s.Fake.URL()}}
		}),
		"listNetworks": viewers(workspace.AccountsRead, none),
		"connectAccountByForm": editors(workspace.AccountsWrite, func(x *things) request {
			return request{
				body: object{"network": "mastodon", "sandbox": true, "values": object{"access_token": x.atNetwork()}},
			}
		}),
		"getAccount": viewers(workspace.AccountsRead, func(x *things) request {
			return request{args: []any{x.account()}}
		}),
		"changeAccount": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.account()}, body: object{"default": true}}
		}),
		"checkAccount": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.account()}}
		}),
		"reconnectAccount": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.account()}}
		}),
		"disconnectAccount": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.connected()}}
		}),
		"getAccountChoice": editors(workspace.AccountsRead, func(x *things) request {
			return request{args: []any{x.choice().ID}}
		}),
		"makeAccountChoice": editors(workspace.AccountsWrite, func(x *things) request {
			return request{args: []any{x.choice().ID}, body: object{"remote_ids": []string{"1"}}}
		}),

		"getMedia":        viewers(workspace.MediaRead, onFile(nil)),
		"getMediaContent": viewers(workspace.MediaRead, onFile(nil)),
		"getMediaFitness": viewers(workspace.MediaRead, onFile(nil)),
		"editMedia":       authors(workspace.MediaWrite, onFile(object{"alt_text": "Changed"})),
		"deleteMedia":     authors(workspace.MediaWrite, onFile(nil)),
		"listMedia":       viewers(workspace.MediaRead, none),
		"fetchMedia": authors(workspace.MediaWrite, func(x *things) request {
			return request{body: object{"url": x.onTheWeb()}}
		}),
		"startMediaUpload": authors(workspace.MediaWrite, func(*things) request {
			return request{body: object{"file_name": "a.png", "bytes": 9}}
		}),
		"getMediaUpload": authors(workspace.MediaWrite, func(x *things) request {
			return request{args: []any{x.sent()}}
		}),
		"completeMediaUpload": authors(workspace.MediaWrite, func(x *things) request {
			return request{args: []any{x.sent()}}
		}),
		"uploadMedia": authors(workspace.MediaWrite, func(x *things) request {
			body, contentType := form(x.s.t, "file", string(picture(x.s.t)))
			return request{body: body.String(), contentType: contentType}
		}),

		"listWebhooks": editors(workspace.WebhooksRead, none),
		"createWebhook": editors(workspace.WebhooksWrite, func(x *things) request {
			x.noWebhooks()
			return request{body: object{"url": "https://hooks.example/dateline"}}
		}),
		"getWebhook":            editors(workspace.WebhooksRead, onWebhook(nil)),
		"updateWebhook":         editors(workspace.WebhooksWrite, onWebhook(object{"description": "Changed"})),
		"deleteWebhook":         editors(workspace.WebhooksWrite, onWebhook(nil)),
		"rotateWebhookSecret":   editors(workspace.WebhooksWrite, onWebhook(nil)),
		"testWebhook":           editors(workspace.WebhooksWrite, onWebhook(nil)),
		"listWebhookDeliveries": editors(workspace.WebhooksRead, onWebhook(nil)),
		"redeliverDeadWebhooks": editors(workspace.WebhooksWrite, onWebhook(nil)),
		"redeliverWebhook": editors(workspace.WebhooksWrite, func(x *things) request {
			endpoint := x.webhook()
			return request{args: []any{endpoint, x.delivery(endpoint)}}
		}),

		"listNotificationChannels": viewers(workspace.NotificationsRead, none),
		"listNotifications":        viewers(workspace.NotificationsRead, onChannel(nil)),
		"createNotificationChannel": viewers(workspace.NotificationsWrite, func(x *things) request {
			x.noChannels()
			return request{body: settings}
		}),
		"updateNotificationChannel": viewers(workspace.NotificationsWrite, onChannel(settings)),
		"deleteNotificationChannel": viewers(workspace.NotificationsWrite, onChannel(nil)),
		"testNotificationChannel":   viewers(workspace.NotificationsWrite, onChannel(nil)),
		"redeliverNotifications":    viewers(workspace.NotificationsWrite, onChannel(nil)),

		"followLink": everybody(onLink),
		"listLinks":  viewers(workspace.PostsRead, none),
		"getLink":    viewers(workspace.PostsRead, onLink),
		"createLink": authors(workspace.PostsWrite, func(*things) request {
			return request{body: object{"url": "https://news.example/a"}}
		}),
		"disableLink": authors(workspace.PostsWrite, onLink),
		"enableLink":  authors(workspace.PostsWrite, onLink),
		"viewsHealth": viewers(workspace.ViewsRead, none),
		"eraseViews": owners(workspace.ViewsWrite, func(x *things) request {
			return request{body: object{"site_id": x.sitelike(), "visitor_hash": "00000000000000ff"}}
		}),
		"getViewErasure": owners(workspace.ViewsRead, func(x *things) request {
			return request{args: []any{x.erasure()}}
		}),
		"sendView": everybody(func(x *things) request {
			return request{body: object{"site": x.site().WriteKey, "page": "/a"}}
		}),
		"sendEvent": everybody(func(x *things) request {
			return request{body: object{"site": x.site().WriteKey, "page": "/a", "type": "click"}}
		}),
		"sendHeartbeat": everybody(func(x *things) request {
			return request{body: object{"site": x.site().WriteKey, "page": "/a", "view": "v1", "engaged": 5000}}
		}),
		"pixel": everybody(func(x *things) request {
			return request{query: "page=/a&site=" + x.site().WriteKey}
		}),
		"tracker": everybody(none),
		"publicCount": everybody(func(x *things) request {
			return request{query: "page=/a&site=" + x.site().WriteKey}
		}),
		"publicBadge": everybody(func(x *things) request {
			return request{query: "page=/a&site=" + x.site().WriteKey}
		}),
		"publicScript": everybody(func(x *things) request {
			return request{query: "page=/a&site=" + x.site().WriteKey}
		}),
		"sendHits": everybody(func(x *things) request {
			return request{body: []any{object{"page": "/a", "user": "1"}}, authorization: "Bearer " + x.secretOfSite()}
		}),

		"listSites": viewers(workspace.ViewsRead, none),
		"createSite": editors(workspace.ViewsWrite, func(x *things) request {
			x.noSites()
			return request{body: object{"name": "News"}}
		}),
		"getSite":          viewers(workspace.ViewsRead, onSite("", nil)),
		"updateSite":       editors(workspace.ViewsWrite, onSite("", object{"name": "Renamed"})),
		"deleteSite":       owners(workspace.ViewsWrite, onSite("", nil)),
		"rotateSiteSecret": editors(workspace.ViewsWrite, onSite("", nil)),
		"pageStats":        viewers(workspace.ViewsRead, onSite("page=/a&page=/b", nil)),
		"pageSeries":       viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"pageFunnel":       viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"siteReport":       viewers(workspace.ViewsRead, onSite("from=2026-11-01&to=2026-11-07", nil)),
		"listSharedLinks":  editors(workspace.ViewsRead, onSite("", nil)),
		"createSharedLink": editors(workspace.ViewsWrite, onSite("", object{"name": "Board"})),
		"deleteSharedLink": editors(workspace.ViewsWrite, func(x *things) request {
			l := x.sharedLink()
			return request{args: []any{l.SiteID, l.ID}}
		}),
		"listSubscriptions": editors(workspace.ViewsRead, onSite("", nil)),
		"createSubscription": editors(workspace.ViewsWrite,
			onSite("", object{"kind": "weekly", "email": "editor@news.example"})),
		"deleteSubscription": editors(workspace.ViewsWrite, func(x *things) request {
			s := x.subscription()
			return request{args: []any{s.SiteID, s.ID}}
		}),
		"resendEmail": editors(workspace.ViewsWrite, func(x *things) request {
			s := x.subscription()
			return request{args: []any{s.SiteID, s.ID}}
		}),
		"listStatsImports": viewers(workspace.ViewsRead, onSite("", nil)),
		"importStats": editors(workspace.ViewsWrite, func(x *things) request {
			return request{
				args: []any{x.site().ID}, query: "source=goatcounter", body: goatCounterExport,
				contentType: "application/octet-stream",
			}
		}),
		"deleteStatsImport": editors(workspace.ViewsWrite, func(x *things) request {
			i := x.statsImport()
			return request{args: []any{i.SiteID, i.ID}}
		}),
		"getAlertRule": viewers(workspace.ViewsRead, onSite("", nil)),
		"setAlertRule": editors(workspace.ViewsWrite,
			onSite("", object{"enabled": true, "spike_factor": 3, "drop_share": 0.3, "min_views": 100})),
		"listSiteAlerts":      viewers(workspace.ViewsRead, onSite("", nil)),
		"plausibleRealtime":   viewers(workspace.ViewsRead, onPlausible("")),
		"plausibleAggregate":  viewers(workspace.ViewsRead, onPlausible("&period=7d&compare=previous_period")),
		"plausibleTimeseries": viewers(workspace.ViewsRead, onPlausible("&period=6mo")),
		"plausibleBreakdown":  viewers(workspace.ViewsRead, onPlausible("&property=event:page")),
		"plausibleQuery": viewers(workspace.ViewsRead, func(x *things) request {
			return request{body: object{"site_id": x.site().ID, "metrics": []string{"visits"}, "date_range": "7d"}}
		}),
		"sendPlausibleEvent": everybody(func(x *things) request {
			return request{
				body: object{"name": "pageview", "url": "https://news.example/a", "domain": x.site().WriteKey},
			}
		}),
		"pageDimensions": viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"recentArticles": viewers(workspace.ViewsRead, onSite("", nil)),
		"engagement":     viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"concurrents":    viewers(workspace.ViewsRead, onSite("", nil)),
		"pageFiltered":   viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"liveViews":      viewers(workspace.ViewsRead, onSite("page=/a", nil)),
		"postStats":      viewers(workspace.ViewsRead, onPost(nil)),
		"postMetrics":    viewers(workspace.PostsRead, onPost(nil)),
		"postReport": viewers(workspace.ViewsRead, func(*things) request {
			return request{query: "from=2026-11-01&to=2026-11-07&by=network", queryRequired: true}
		}),
		"bestTimes": viewers(workspace.ViewsRead, none),
		"postHighlights": viewers(workspace.ViewsRead, func(*things) request {
			return request{query: "from=2026-11-01&to=2026-11-07", queryRequired: true}
		}),
		"trending": viewers(workspace.ViewsRead, func(x *things) request {
			return request{query: "site=" + x.site().ID.String()}
		}),

		"getMe": viewers("", none),
		"parseTime": viewers("", func(*things) request {
			return request{query: "text=tomorrow", queryRequired: true}
		}),
		"listTimeZones":  viewers("", none),
		"getWorkspace":   viewers(workspace.WorkspaceRead, none),
		"listWorkspaces": viewers(workspace.WorkspaceRead, none),
		"updateWorkspace": owners(workspace.WorkspaceWrite, func(*things) request {
			return request{body: object{"name": "Renamed"}}
		}),
		"exportWorkspace":      owners(workspace.WorkspaceWrite, none),
		"listWorkspaceExports": owners(workspace.WorkspaceRead, none),
		"getWorkspaceExport": owners(workspace.WorkspaceRead, func(x *things) request {
			return request{args: []any{x.export()}}
		}),
		"cancelWorkspaceExport": owners(workspace.WorkspaceWrite, func(x *things) request {
			return request{args: []any{x.export()}}
		}),
		"downloadWorkspaceExport": owners(workspace.WorkspaceRead, func(x *things) request {
			return request{args: []any{x.export()}}
		}),
		"importWorkspace": owners(workspace.WorkspaceWrite, func(x *things) request {
			return request{body: emptyArchive(x), contentType: "application/zstd"}
		}),
		"createWorkspace": owners(workspace.WorkspaceWrite, func(*things) request {
			return request{body: object{"name": "Sports"}}
		}),
		"getDemo":     viewers(workspace.WorkspaceRead, none),
		"createDemo":  owners(workspace.WorkspaceWrite, none),
		"removeDemo":  owners(workspace.WorkspaceWrite, func(x *things) request { x.demo(); return request{} }),
		"listMembers": editors(workspace.MembersRead, none),
		"inviteMember": owners(workspace.MembersWrite, func(*things) request {
			return request{body: object{"email": someID().String() + "@news.example", "role": "editor"}}
		}),
		"updateMember": owners(workspace.MembersWrite, func(x *things) request {
			return request{args: []any{x.member()}, body: object{"role": "viewer"}}
		}),
		"removeMember": owners(workspace.MembersWrite, func(x *things) request {
			return request{args: []any{x.member()}}
		}),
		"createLoginLink": owners(workspace.MembersWrite, func(x *things) request {
			return request{args: []any{x.member()}}
		}),
		"revokeLoginLink": owners(workspace.MembersWrite, func(x *things) request {
			return request{args: []any{x.memberWithLink()}}
		}),
		"listTokens": viewers(workspace.TokensRead, none),
		"createToken": viewers(workspace.TokensWrite, func(*things) request {
			return request{body: object{"name": "Robot", "scopes": []string{string(workspace.TokensWrite)}}}
		}),
		"revokeToken": viewers(workspace.TokensWrite, func(x *things) request {
			return request{args: []any{x.token()}}
		}),
		"listAudit": editors(workspace.AuditRead, func(x *things) request {
			return request{query: url.Values{"actor": {x.member().String()}, "object": {x.account().String()}}.Encode()}
		}),
	}
}
