package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"dateline/api/spec"
)

const checkPatience = 3 * time.Second

// Live says that the process runs.
func (s *Server) Live(context.Context, spec.LiveRequestObject) (spec.LiveResponseObject, error) {
	return spec.Live200TextResponse("ok"), nil
}

// Ready says whether the engines answer and workers poll. It looks at all of
// them side by side.
func (s *Server) Ready(ctx context.Context, _ spec.ReadyRequestObject) (spec.ReadyResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	answer := spec.Readiness{Ready: true, Checks: make(map[string]string, len(s.Checks))}
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, check := range s.Checks {
		all.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			answer.Checks[name] = "ok"
			if err != nil {
				// Addresses and credentials in the cause are for the log only.
				s.Log.Warn("not ready", "check", name, "error", err)
				answer.Ready, answer.Checks[name] = false, "does not answer"
			}
		})
	}
	all.Wait()
	if !answer.Ready {
		return spec.Ready503JSONResponse(answer), nil
	}
	return spec.Ready200JSONResponse(answer), nil
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
