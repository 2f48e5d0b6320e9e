package flush_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/enginetest"
)

func (r *fixture) erase(e flush.Erasure) flush.Erasure {
	r.t.Helper()
	e.ID, e.RequestedBy = uuid.New(), uuid.New()
	_, err := r.store.Audience.Views.CreateViewErasure(r.t.Context(), e)
	r.must(err)
	if done := r.flush(); done.Erased != 1 {
		r.t.Errorf("%+v", done)
	}
	got, err := r.store.Audience.Views.ViewErasure(r.t.Context(), e.Workspace, e.ID)
	if r.must(err); got.DoneAt == nil || got.Visitor != (counter.Visitor{}) {
		r.t.Errorf("%+v", got)
	}
	if n := r.number("select count(*) from view_erasures where visitor_hash is not null"); n != 0 {
		r.t.Error("the visitor is still stored")
	}
	return got
}

func TestErase_Site(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	workspace := r.workspace()
	other := r.site
	r.view("post 0", 3)
	r.site.ID = uuid.New()
	r.want = map[string]int64{}
	r.viewPages(4, 10)
	r.flush()
	r.viewPages(4, 1) // not flushed yet
	if e := r.erase(flush.Erasure{Workspace: workspace, Site: r.site.ID}); e.Removed == 0 {
		t.Errorf("%+v", e)
	}
	for page := range r.want {
		if s := r.shown(page); s.Views != 0 || s.Uniques.AllTime != 0 || s.Uniques.Day != 0 || r.stored(page) != 0 {
			t.Errorf("%s still has %+v and %d", page, s, r.stored(page))
		}
	}
	if n := r.number("select (select count(*) from site_engagement where site_id = $1) + (select count(*) from "+
		"view_engagement e where not exists (select 1 from view_pages p where p.id = e.page_id))", r.site.ID); n != 0 {
		t.Errorf("%d rows of engagement are left", n)
	}
	for keys := r.redis.Scan(t.Context(), 0, "*post 3*", 1000).Iterator(); keys.Next(t.Context()); {
		t.Errorf("the key %q still exists", keys.Val())
	}
	if known, err := r.counter.Heartbeats(t.Context(),
		[]counter.Heartbeat{{Site: r.site, Page: "post 1", View: "view 4", At: time.Now()}}); err != nil || known != 0 {
		t.Errorf("an erased view still has heartbeats; %v", err)
	}
	r.site, r.want = other, map[string]int64{"post 0": 3}
	if r.shown("post 0").Views != 3 || r.stored("post 0") != 3 {
		t.Error("another site was changed")
	}
	r.flush()
}

// workspace creates a workspace for requests.
func (r *fixture) workspace() uuid.UUID {
	r.t.Helper()
	id := uuid.New()
	r.number("with made as (insert into workspaces (id, name, time_zone) values ($1, 'Desk', 'UTC') returning 1) "+
		"select count(*) from made", id)
	return id
}

func TestErase_Visitor(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	workspace := r.workspace()
	for way, v := range map[counter.UniqueMethod]counter.Visitor{
		counter.Set: {Hash: 77}, counter.SetPerDay: {Hash: 77},
		counter.Bitmap: {ID: 77},
	} {
		t.Run(string(way), func(t *testing.T) {
			r.t = t
			r.site.ID, r.site.UniqueMethod, r.site.MaxID = uuid.New(), way, 1000
			other := counter.Visitor{Hash: v.Hash * 2, ID: v.ID * 2}
			for _, one := range []counter.Visitor{v, other} {
				if one.Hash == 0 {
					one.Hash = uint64(one.ID)
				}
				_, err := r.counter.Count(t.Context(), []counter.Hit{
					{Site: r.site, Page: "post", Kind: counter.View, Visitor: one, At: time.Now()},
				})
				r.must(err)
			}
			r.flush()
			if e := r.erase(flush.Erasure{
				Workspace: workspace, Site: r.site.ID, SingleVisitor: true,
				Visitor: v,
			}); e.Removed == 0 {
				t.Errorf("%+v", e)
			}
			seen, err := r.counter.HasSeen(t.Context(), r.site, "post", v)
			r.must(err)
			still, err := r.counter.HasSeen(t.Context(), r.site, "post", other)
			if r.must(err); seen || !still {
				t.Errorf("the visitor is known: %v; another one: %v", seen, still)
			}
			if s := r.shown("post"); s.Views != 2 || s.Uniques.Day != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// expectErased checks that no table has counts of a site. A new table with a site or
// a page is checked too, unless it has settings.
func (r *fixture) expectErased(site uuid.UUID) {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), r.databaseURL)
	r.must(err)
	defer func() { _ = c.Close(context.WithoutCancel(r.t.Context())) }()
	rows, err := c.Query(r.t.Context(),
		`select c.relname::text, a.attname::text from pg_class c join pg_attribute a on a.attrelid = c.oid
		where c.relkind in ('r', 'p') and not c.relispartition and c.relname ~ '^(view|site|stats)_'
		and (a.attname = 'site_id' and a.atttypid = 'uuid'::regtype or a.attname = 'page_id') and c.relname not in ('site_alert_rules', 'view_erasures') order by 1, 2`)
	r.must(err)
	var tables [][2]string
	for rows.Next() {
		var table [2]string
		r.must(rows.Scan(&table[0], &table[1]))
		tables = append(tables, table)
	}
	r.must(rows.Err())
	if len(tables) < 15 {
		r.t.Errorf("found %d tables with counts of sites, want at least 15: %v", len(tables), tables)
	}
	for _, table := range tables {
		left := "select count(*) from " + table[0] + " where site_id = $1"
		if table[1] == "page_id" {
			left = "select count(*) from " + table[0] + " where page_id <> 0 and page_id not in (select id from " +
				"view_pages) and $1::uuid is not null"
		}
		if n := r.number(left, site); n != 0 {
			r.t.Errorf("%d rows of %s are left after an erasure", n, table[0])
		}
	}
}
