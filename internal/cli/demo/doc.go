// Package demo fills the demo, a workspace of sample data: accounts of the sandbox, posts in every
// state, a site with simulated readers, and generated news sites.
//
// It sends requests to the API, as people, browsers and readers do, and writes nothing to the
// database. What a workspace has already is not created again, so that filling it can be interrupted
// and repeated.
package demo

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/testing/crawltest"
	"dateline/platforms/fake"
)

// Store knows the demo and replaces the token that it is filled with.
type Store interface {
	DemoWorkspace(ctx context.Context) (w workspace.Workspace, owner uuid.UUID, found bool, err error)
	ReplaceToken(ctx context.Context, t workspace.Token) error
}

// Demo fills the demo while it exists.
type Demo struct {
	API     http.Handler // of this process; set before Run
	Store   Store
	Sandbox *fake.Server
	Sites   *crawltest.World // nil: the crawler is off
	// RunSchedule runs a schedule of Temporal now, so that the first results do not take a minute.
	RunSchedule func(ctx context.Context, id string) error
	Schedules   []string
	Log         *slog.Logger

	mu      sync.Mutex
	created chan struct{} // closed when there is something to fill
	running *run
}

// run is the simulation of one workspace.
type run struct {
	workspace uuid.UUID
	stop      context.CancelFunc
	done      chan struct{}
}

// New returns a demo.
func New(d *Demo) *Demo {
	d.created = make(chan struct{}, 1)
	return d
}

// Created implements workspace.DemoContent.
func (d *Demo) Created(workspace.Workspace, uuid.UUID) {
	select {
	case d.created <- struct{}{}:
	default: // it is known already
	}
}

// Run fills the demo, if there is one or as soon as it is created, and simulates its readers and
// news until ctx ends.
func (d *Demo) Run(ctx context.Context) {
	for {
		select {
		case <-d.created: // what is read now
		default:
		}
		w, owner, found, err := d.Store.DemoWorkspace(ctx)
		if err != nil {
			d.Log.WarnContext(ctx, "the demo could not be read", "error", err)
		}
		if found && ctx.Err() == nil {
			d.simulate(ctx, w.ID, owner)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.created:
		}
	}
}

// simulate fills a workspace and simulates its readers and news until ctx ends or it is deleted.
func (d *Demo) simulate(ctx context.Context, id, owner uuid.UUID) {
	ctx, stop := context.WithCancel(ctx)
	r := &run{workspace: id, stop: stop, done: make(chan struct{})}
	defer close(r.done)
	defer stop()
	d.mu.Lock()
	d.running = r
	d.mu.Unlock()
	c, err := d.client(ctx, id, owner)
	if err != nil {
		d.Log.WarnContext(ctx, "the demo could not be opened", "error", err)
		return
	}
	var all sync.WaitGroup
	all.Go(func() { d.hurry(ctx) })
	all.Go(func() { d.publishNews(ctx) })
	f := &filler{client: c, Demo: d}
	if err := f.fill(ctx); err != nil && ctx.Err() == nil {
		d.Log.WarnContext(ctx, "the demo is incomplete; the next start continues", "error", err)
	}
	if f.site.ID != uuid.Nil {
		all.Go(func() { f.readers(ctx) })
	}
	all.Wait()
}

// client returns a client with a new token of the demo, which revokes the previous one.
func (d *Demo) client(ctx context.Context, id, owner uuid.UUID) (*client, error) {
	token, plain := workspace.NewToken(id, owner, "demo")
	if err := d.Store.ReplaceToken(ctx, token); err != nil {
		return nil, err
	}
	return &client{api: d.API, token: plain}, nil
}

// hurry runs the schedules that process news, readers and metrics more often at first.
func (d *Demo) hurry(ctx context.Context) {
	const (
		interval = 7 * time.Second
		times    = 20
	)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for range times {
		for _, id := range d.Schedules {
			if err := d.RunSchedule(ctx, id); err != nil && ctx.Err() == nil {
				d.Log.DebugContext(ctx, "a schedule was not run", "schedule", id, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Deleting implements workspace.DemoContent: it stops the simulation, and what runs or is counted
// outside of the database.
func (d *Demo) Deleting(ctx context.Context, w workspace.Workspace) error {
	d.mu.Lock()
	r := d.running
	d.mu.Unlock()
	if r != nil {
		r.stop()
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	found, owner, exists, err := d.Store.DemoWorkspace(ctx)
	if err != nil || !exists || found.ID != w.ID {
		return err
	}
	c, err := d.client(ctx, w.ID, owner)
	if err != nil {
		return err
	}
	return errors.Join(c.endSeries(ctx), c.cancelPosts(ctx), c.deleteAll(ctx, "/sites", "sites"))
}
