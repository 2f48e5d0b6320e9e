package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// Half of an archive must not pass for a whole one.
func TestExport_FailureAbortsTheConnection(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	s := &Server{}
	r.GET("/", func(c *gin.Context) {
		_, _ = io.WriteString(c.Writer, strings.Repeat("x", 100_000))
		s.refuse(c, http.ErrAbortHandler)
	})
	server := httptest.NewServer(r)
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if body, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%d bytes, and all seems well", len(body))
	}
}
