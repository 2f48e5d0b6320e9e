package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
)

const checkTimeout = 3 * time.Second

// Live says that the process runs.
func (s *Server) Live(context.Context, spec.LiveRequestObject) (spec.LiveResponseObject, error) {
	return spec.Live200TextResponse("ok"), nil
}

// Ready says whether the engines answer and workers poll. It looks at all of
// them side by side.
func (s *Server) Ready(ctx context.Context, _ spec.ReadyRequestObject) (spec.ReadyResponseObject, error) {
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

// RunChecks makes all checks side by side and gives what each said.
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

// clockJSON says how well this process's host agrees with the database.
func (s *Server) clockJSON() *spec.ClockReading {
	if s.Clock == nil {
		return nil
	}
	r := s.Clock.Reading()
	if r.At.IsZero() {
		return nil
	}
	return &spec.ClockReading{OffsetMs: milliseconds(r.Offset), UncertaintyMs: milliseconds(r.Uncertainty), MeasuredAt: r.At.UTC()}
}

// milliseconds rounds to tenths.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000
}

// HealthHandler serves the health checks alone, for processes that have no API.
func (s *Server) HealthHandler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	strict := spec.NewStrictHandler(s, nil)
	r.GET("/livez", strict.Live)
	r.GET("/readyz", strict.Ready)
	return r
}
