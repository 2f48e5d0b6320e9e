package news_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/pipeline"
)

// interruption is a context that is canceled at one moment: the statement that is about
// to run then fails, as do later ones. Advancing the moment makes every statement of a
// call fail once.
type interruption struct {
	context.Context
	left  atomic.Int64
	fired atomic.Bool
	ended chan struct{}
}

func interruptedAt(ctx context.Context, moment int64) *interruption {
	i := &interruption{Context: ctx, ended: make(chan struct{})}
	i.left.Store(moment)
	close(i.ended)
	return i
}

func (i *interruption) Done() <-chan struct{} {
	if i.left.Add(-1) == 0 {
		i.fired.Store(true)
		return i.ended
	}
	return nil
}

func (i *interruption) Err() error {
	if i.fired.Load() {
		return context.Canceled
	}
	return nil
}

// selectorState is everything that is stored about the selectors of a site.
func (n *newsroom) selectorState(d crawl.Domain) (state string) {
	n.T.Helper()
	// A transaction whose commit was interrupted may still be ending.
	n.must1(n.Pool().Exec(n.T.Context(), "select 1 from site_monitors where domain_id = $1 for update", d.ID))
	n.Must(n.Pool().QueryRow(n.T.Context(), `select concat_ws(E'\n',
		(select string_agg(version || ' ' || state || ' ' || coalesce(end_reason->>'message', ''), ', ' order by version) from site_selectors where domain_id = $1),
		(select concat_ws(' ', monitor, requested_action, action_reason->>'message', time_zone, learning_enabled) from site_monitors where domain_id = $1),
		(select string_agg(concat_ws(' ', type, actor, data - 'domain'), ', ' order by id) from post_events where data->>'domain' = $2),
		(select string_agg(concat_ws(' ', action, data - 'domain'), ', ' order by id) from audit_log where data->>'domain' = $2))`, d.ID, d.Name).Scan(&state))
	return state
}

// If a statement fails, a change of a site's selectors is complete, or its error is
// returned and nothing changes: a site must never be without the active version that
// its monitor expects.
func TestSelectors_ChangeAsAWholeOrNotAtAll(t *testing.T) {
	n := open(t)
	made := 0
	site := func() crawl.Domain {
		made++
		_, d := n.Seed(n.Workspace.ID, fmt.Sprintf("https://news%d.example/", made))
		return d
	}
	request := func(action selector.Action) func(d crawl.Domain) {
		return func(d crawl.Domain) {
			n.activate(d)
			n.activate(d)
			n.Must(n.News.Articles.RequestSelectorAction(t.Context(), d.ID, action, because("it lacks the lead")))
		}
	}
	twice := request(selector.ActionNone)
	draft := pipeline.Selectors{
		Config:    selector.Config{Variants: []selector.Variant{{Name: "story", Body: []string{"//main"}}}},
		CreatedBy: pipeline.CreatedByMember, State: pipeline.Active,
	}
	for name, row := range map[string]struct {
		prepare func(d crawl.Domain)
		change  func(ctx context.Context, d crawl.Domain) error
		want    string // part of the resulting state
	}{
		"RollBack": {twice, func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, n.Workspace.ID, because("worse"), false)
			return err
		}, "1 active , 2 rolled_back worse"},
		"RollBackToNone": {func(d crawl.Domain) { n.activate(d) }, func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, n.Workspace.ID, because("worse"), false)
			return err
		}, "1 rolled_back worse"},
		"RollBackSecond": {func(d crawl.Domain) {
			twice(d)
			n.activate(d)
			_, _, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("worse"), false)
			n.Must(err)
		}, func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, n.Workspace.ID, because("worse, too"), false)
			return err
		}, "1 active , 2 rolled_back worse, too, 3 rolled_back worse"},
		"RollBackRequested": {request(selector.ActionRollBack), func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, uuid.Nil, message.Message{}, true)
			return err
		}, "1 active , 2 rolled_back it lacks the lead"},
		"NothingToRollBack": {func(d crawl.Domain) {
			n.Must(n.News.Articles.RequestSelectorAction(t.Context(), d.ID, selector.ActionRollBack, because("no")))
		}, func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(ctx, d, uuid.Nil, message.Message{}, true)
			return err
		}, "{} none"},
		"Activate": {twice, func(ctx context.Context, d crawl.Domain) error {
			_, err := n.News.Articles.ActivateSelectors(ctx, d, n.Workspace.ID, 1, because("better"))
			return err
		}, "1 active , 2 retired better"},
		"Add": {twice, func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.AddSelectors(ctx, d, n.Workspace.ID, draft, idempotency.Key{})
			return err
		}, "3 active"},
		"Learned": {request(selector.ActionLearn), func(ctx context.Context, d crawl.Domain) error {
			_, _, err := n.News.Articles.SaveLearnedSelectors(ctx, d, draft)
			return err
		}, "3 active"},
		"LearnedNothing": {request(selector.ActionLearn), func(ctx context.Context, d crawl.Domain) error {
			return n.News.Articles.RecordLearningFailure(ctx, d, "too few pages")
		}, `"learn_error": "too few pages"`},
		"Request": {twice, func(ctx context.Context, d crawl.Domain) error {
			return n.News.Articles.RequestSelectorAction(ctx, d.ID, selector.ActionLearn, because("the site may have changed"))
		}, "learn the site may have changed"},
		"Settings": {twice, func(ctx context.Context, d crawl.Domain) error {
			return n.News.Articles.UpdateExtractionSettings(ctx, d, n.Workspace.ID, "Asia/Ho_Chi_Minh", false)
		}, "Asia/Ho_Chi_Minh f"},
	} {
		t.Run(name, func(t *testing.T) {
			d := site()
			row.prepare(d)
			if err := row.change(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			complete := n.selectorState(d)
			if !strings.Contains(complete, row.want) {
				t.Fatalf("got %s, want %q", complete, row.want)
			}
			d = site()
			row.prepare(d)
			before := n.selectorState(d)
			for moment := int64(1); ; moment++ {
				if moment > 500 {
					t.Fatal("every attempt was interrupted")
				}
				ctx := interruptedAt(t.Context(), moment)
				err := row.change(ctx, d)
				after := n.selectorState(d)
				if after == complete && after != before {
					break // also when the interruption was too late
				}
				if err == nil || after != before {
					t.Fatalf("interrupted at moment %d: got error %v and\n%s\nwant an error and\n%s\nor\n%s", moment,
						err, after, before, complete)
				}
			}
		})
	}
}

// Rows that cannot be decoded are an error: the site keeps its version.
func TestSelectors_UnreadableRowsChangeNothing(t *testing.T) {
	n := open(t)
	for name, row := range map[string]struct {
		spoil  string
		change func(d crawl.Domain) error
	}{
		"MonitorRollBack": {"update site_monitors set monitor = '[]' where domain_id = $1", func(d crawl.Domain) error {
			_, _, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("worse"), false)
			return err
		}},
		"MonitorActivate": {"update site_monitors set monitor = '[]' where domain_id = $1", func(d crawl.Domain) error {
			_, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 1, because("better"))
			return err
		}},
		"MonitorLearn": {
			"update site_monitors set monitor = '[]', requested_action = 'learn' where domain_id = $1",
			func(d crawl.Domain) error {
				return n.News.Articles.RecordLearningFailure(t.Context(), d, "too few pages")
			},
		},
		"ConfigRollBack": {
			"update site_selectors set config = '[]' where domain_id = $1 and version = 1",
			func(d crawl.Domain) error {
				_, _, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("worse"), false)
				return err
			},
		},
		"ConfigRollBackFurther": {
			"update site_selectors set config = '[]' where domain_id = $1 and version = 1",
			func(d crawl.Domain) error {
				n.must1(n.Pool().Exec(t.Context(),
					"update site_monitors set monitor = monitor - 'previous' where domain_id = $1", d.ID))
				_, _, err := n.News.Articles.RollBackSelectors(t.Context(), d, n.Workspace.ID, because("worse"), false)
				return err
			},
		},
		"ConfigActivate": {
			"update site_selectors set config = '[]' where domain_id = $1 and version = 1",
			func(d crawl.Domain) error {
				_, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 1, because("better"))
				return err
			},
		},
		"ScoresActivate": {
			"update site_selectors set scores = '[]' where domain_id = $1 and version = 1",
			func(d crawl.Domain) error {
				_, err := n.News.Articles.ActivateSelectors(t.Context(), d, n.Workspace.ID, 1, because("better"))
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, d := n.Seed(n.Workspace.ID, "https://"+strings.ToLower(name)+".example/")
			n.activate(d)
			n.activate(d)
			n.must1(n.Pool().Exec(t.Context(), row.spoil, d.ID))
			if err := row.change(d); err == nil {
				t.Error("got no error")
			}
			if site, err := n.News.Articles.SiteSelectors(t.Context(), d.ID); err != nil || site.Version != 2 {
				t.Errorf("got version %d, %v, want 2 as before", site.Version, err)
			}
		})
	}
}

func (n *newsroom) must1(_ any, err error) {
	n.T.Helper()
	n.Must(err)
}
