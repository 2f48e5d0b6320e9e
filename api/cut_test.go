package api

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// A truncated archive must not look complete.
func TestExport_FailureAbortsTheConnection(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/", func(c *gin.Context) {
		_, _ = io.WriteString(c.Writer, strings.Repeat("x", 100_000))
		refuse(c, slog.New(slog.DiscardHandler), http.ErrAbortHandler)
	})
	server := httptest.NewServer(r)
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if body, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("got %d bytes without an error, want an aborted connection", len(body))
	}
}
