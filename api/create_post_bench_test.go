package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/testing/cputime"
	"dateline/internal/testing/newsroomtest"
)

// BenchmarkCreatePost schedules posts with the whole chain of handlers and a real
// database. cpu-ns/op is the CPU time of this process, that of Postgres not counted:
//
//	go test ./api -run '^$' -bench BenchmarkCreatePost -benchtime 2000x
func BenchmarkCreatePost(b *testing.B) {
	n := newsroomtest.Open(b)
	account := n.Connect("desk")
	h := handler(n, &temporal{signaled: map[uuid.UUID]int{}}, io.Discard)
	body := func(i int) []byte {
		// None is a duplicate of another or close to one.
		at := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Hour)
		raw, err := json.Marshal(object{
			"content": fmt.Sprintf("Bão số %d đổ bộ vào đất liền, hàng nghìn người phải sơ tán. "+
				"https://news.example/bao-so-%d", i, i),
			"scheduled_time": at.Format("2006-01-02T15:04"), "time_zone": "Asia/Ho_Chi_Minh", "language": "vi",
			"accounts": []string{account.ID.String()},
			"thread":   []object{{"content": "Cập nhật lúc 18 giờ."}, {"content": "Danh sách các trường cho nghỉ học."}},
			"options":  object{"mastodon": object{"visibility": "public", "content_warning": "Thời tiết"}},
		})
		n.Must(err)
		return raw
	}
	ownTime := func() time.Duration { return cputime.Of(os.Getpid())[""] }
	before, i := ownTime(), 0
	for b.Loop() {
		i++
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/api/v1/posts", bytes.NewReader(body(i)))
		r.Header.Set("Authorization", "Bearer "+n.Token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusCreated {
			b.Fatalf("got %d: %s", w.Code, w.Body)
		}
	}
	b.ReportMetric(float64(ownTime()-before)/float64(b.N), "cpu-ns/op")
}
