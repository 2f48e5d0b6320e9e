package api

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
)

const checkTimeout = 3 * time.Second

// Live responds with the version if the process runs.
func (s *SystemHandler) Live(context.Context, spec.LiveRequestObject) (spec.LiveResponseObject, error) {
	return spec.Live200TextResponse(strings.TrimSpace("ok " + s.Build)), nil
}

// Ready reports whether the engines respond and workers poll. Checks run concurrently.
func (s *SystemHandler) Ready(ctx context.Context, _ spec.ReadyRequestObject) (spec.ReadyResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	answer := spec.Readiness{Ready: true, Checks: make(map[string]string, len(s.Checks))}
	for name, said := range s.engines(ctx) {
		answer.Checks[name] = "ok"
		if said != "" {
			answer.Ready, answer.Checks[name] = false, said
		}
	}
	answer.Clock = s.clockJSON()
	if !answer.Ready {
		return spec.Ready503JSONResponse(answer), nil
	}
	return spec.Ready200JSONResponse(answer), nil
}

// RunChecks runs all checks concurrently and returns their results.
func RunChecks(ctx context.Context, checks map[string]Check) map[string]error {
	var mu sync.Mutex
	var all sync.WaitGroup
	said := make(map[string]error, len(checks))
	for name, check := range checks {
		all.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			said[name] = err
		})
	}
	all.Wait()
	return said
}

// clockJSON returns the difference between the clocks of this host and the database.
func (s *SystemHandler) clockJSON() *spec.ClockReading {
	if s.Clock == nil {
		return nil
	}
	r := s.Clock.Reading()
	if r.At.IsZero() {
		return nil
	}
	return &spec.ClockReading{
		OffsetMs: milliseconds(r.Offset), UncertaintyMs: milliseconds(r.Uncertainty), MeasuredAt: r.At.UTC(),
	}
}

// milliseconds rounds to tenths.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000
}

// HealthHandler serves only the health checks, for processes without the API.
func (s *Server) HealthHandler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	strict := spec.NewStrictHandler(s, nil)
	r.GET("/livez", strict.Live)
	r.GET("/readyz", strict.Ready)
	return r
}
