package dbclock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/infra/dbclock"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// host is a host clock that can be set.
type host struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (h *host) set(ahead time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead = ahead
}

func (h *host) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

// open returns a host's clock that shares its true time with a real database.
func open(t *testing.T) (*dbclock.Clock, *host, *bytes.Buffer) {
	t.Helper()
	h, log := &host{}, &bytes.Buffer{}
	store := storetest.Open(t)
	return dbclock.New(dbclock.Options{
		Database: store.Time, Host: h.now,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}), h, log
}

func measure(t *testing.T, c *dbclock.Clock) dbclock.Reading {
	t.Helper()
	if err := c.Measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.Reading()
}

// near allows for the measurement's own error bound.
func near(got, want time.Duration, r dbclock.Reading) bool {
	return (got - want).Abs() <= r.Uncertainty+5*time.Millisecond
}

func TestAHostThatAgreesIsLeftAlone(t *testing.T) {
	c, _, log := open(t)
	for range 3 {
		r := measure(t, c)
		if !near(r.Offset, 0, r) || r.At.IsZero() {
			t.Errorf("%+v", r)
		}
		at := time.Now()
		if got := c.FromHost(at); got.Sub(at).Abs() > time.Millisecond { // the two readings differ by some ns
			t.Errorf("the time was moved by %s", got.Sub(at))
		}
	}
	if err := c.Check(t.Context()); err != nil || log.Len() != 0 {
		t.Errorf("%v, log %q", err, log)
	}
}

func TestNowIsTheDatabasesTime(t *testing.T) {
	c, h, _ := open(t)
	for _, ahead := range []time.Duration{3 * time.Second, -3 * time.Second, 0, time.Hour} {
		h.set(ahead)
		r := measure(t, c)
		if !near(r.Offset, ahead, r) {
			t.Errorf("ahead by %s: measured %s", ahead, r.Offset)
		}
		if wrong := time.Until(c.Now()); !near(wrong, 0, r) {
			t.Errorf("ahead by %s: wrong by %s", ahead, wrong)
		}
		if wrong := time.Until(c.FromHost(h.now())); !near(wrong, 0, r) {
			t.Errorf("ahead by %s: a time of the host is turned into one that is wrong by %s", ahead, wrong)
		}
	}
}

func TestClock_LogsOffsetStateChanges(t *testing.T) {
	c, h, log := open(t)
	for _, step := range []struct {
		ahead time.Duration
		log   string // of this step; "" for none
		ready bool
	}{
		{0, "", true},
		{1500 * time.Millisecond, "level=WARN", true},
		{1600 * time.Millisecond, "", true},
		{-11 * time.Second, "level=ERROR", false},
		{-12 * time.Second, "", false},
		{-2 * time.Second, "level=WARN", true},
		{0, "level=INFO", true},
		{900 * time.Millisecond, "", true},
	} {
		log.Reset()
		h.set(step.ahead)
		measure(t, c)
		if got := log.String(); strings.Count(got, "\n") != strings.Count(step.log, "=") ||
			!strings.Contains(got, step.log) {
			t.Errorf("ahead by %s: log %q, want %q", step.ahead, got, step.log)
		}
		err := c.Check(t.Context())
		if (err == nil) != step.ready {
			t.Errorf("ahead by %s: %v", step.ahead, err)
		}
		var problem *dbclock.OffsetError
		if !step.ready && (!errors.As(err, &problem) ||
			!strings.Contains(problem.Advice(), "s behind the database clock. Synchronize both hosts with NTP")) {
			t.Errorf("ahead by %s: %v", step.ahead, err)
		}
	}
}

// script responds like a database with scripted times and latencies.
type script struct {
	at    time.Time // of the host
	steps []step
}

type step struct{ out, back, ahead time.Duration } // ahead: of the database

func (s *script) now() time.Time { return s.at }

func (s *script) database(context.Context) (time.Time, error) {
	next := s.steps[0]
	s.steps = s.steps[1:]
	at := s.at.Add(next.out + next.ahead)
	s.at = s.at.Add(next.out + next.back)
	return at, nil
}

func scripted(t *testing.T, steps ...step) (*dbclock.Clock, *script) {
	t.Helper()
	s := &script{at: time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC), steps: steps}
	return dbclock.New(dbclock.Options{Database: s.database, Host: s.now, Log: slog.New(slog.DiscardHandler)}), s
}

func TestTheFastestAnswerIsBelieved(t *testing.T) {
	const true3s = 3 * time.Second
	c, s := scripted(t,
		step{400 * time.Millisecond, 0, true3s}, step{0, 300 * time.Millisecond, true3s},
		step{3 * time.Millisecond, 3 * time.Millisecond, true3s},
		step{90 * time.Millisecond, 0, true3s}, step{10 * time.Millisecond, 0, true3s})
	if r := measure(t, c); r.Offset != -true3s || r.Uncertainty != 3*time.Millisecond {
		t.Errorf("%+v", r)
	}
	if got := c.Now(); !got.Equal(s.at.Add(true3s)) {
		t.Errorf("now is %s, host %s", got, s.at)
	}
}

func repeat(one step) (all []step) {
	for range 5 {
		all = append(all, one)
	}
	return all
}

func TestAVagueAnswerDoesNotReplaceABetterOne(t *testing.T) {
	const ahead = 100 * time.Millisecond
	good := repeat(step{time.Millisecond, time.Millisecond, ahead})
	vague := repeat(step{400 * time.Millisecond, 0, ahead}) // looks like 300 ms ahead, or none at all
	moved := repeat(step{400 * time.Millisecond, 0, 2 * time.Second})
	c, s := scripted(t, append(append(good, vague...), moved...)...)
	measure(t, c)
	s.at = s.at.Add(30 * time.Second)
	if r := measure(t, c); r.Uncertainty != 200*time.Millisecond {
		t.Errorf("%+v", r)
	}
	if got := c.Now().Sub(s.at); got != ahead {
		t.Errorf("the offset became %s", got)
	}
	// A response that contradicts a more precise one replaces it.
	s.at = s.at.Add(30 * time.Second)
	measure(t, c)
	if got := c.Now().Sub(s.at); (got - 2*time.Second).Abs() > 200*time.Millisecond {
		t.Errorf("the offset stayed %s", got)
	}
}

func TestADatabaseThatDoesNotAnswerLeavesTheClockAsItIs(t *testing.T) {
	away := false
	store := storetest.Open(t)
	c := dbclock.New(dbclock.Options{
		Log:  slog.New(slog.DiscardHandler),
		Host: func() time.Time { return time.Now().Add(time.Minute) },
		Database: func(ctx context.Context) (time.Time, error) {
			if away {
				return time.Time{}, errors.New("away")
			}
			return store.Time(ctx)
		},
	})
	before := measure(t, c)
	away = true
	if err := c.Measure(t.Context()); err == nil {
		t.Error("no error")
	}
	if c.Reading() != before || time.Until(c.Now()).Abs() > time.Second {
		t.Errorf("%+v, %s", c.Reading(), time.Until(c.Now()))
	}
}

func TestBeforeItsFirstMeasurementAClockShowsTheHostsTime(t *testing.T) {
	c, s := scripted(t)
	if !c.Now().Equal(s.at) || c.Check(t.Context()) != nil || !c.Reading().At.IsZero() {
		t.Errorf("%s, %+v", c.Now(), c.Reading())
	}
}
