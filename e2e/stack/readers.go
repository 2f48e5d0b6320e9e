package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dateline/internal/testing/e2etest"
)

// Page is the page that View describes.
const Page = "/story"

// View sends a reader's view of Page to an api, like a site's server.
func View(ctx context.Context, api, secretKey string, reader int) (e2etest.Answer, error) {
	raw, err := json.Marshal([]map[string]any{{
		"page": Page, "user": fmt.Sprintf("reader %d", reader),
		"address":    fmt.Sprintf("203.0.113.%d", reader%250),
		"user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}})
	if err != nil {
		return e2etest.Answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, api+"/v1/batch", bytes.NewReader(raw))
	if err != nil {
		return e2etest.Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+secretKey)
	request.Header.Set("Content-Type", "application/json")
	return e2etest.Do(request)
}

// ArticleTitle is the title by which Newspaper's article is found.
const ArticleTitle = "Cảng biển"

// Newspaper is a web site to crawl: a front page and one article.
func Newspaper(t testing.TB) *httptest.Server {
	t.Helper()
	paragraphs := []string{
		"Cảng biển của tỉnh đón hơn ba trăm chuyến tàu trong tháng qua, tăng gần một phần năm so với cùng kỳ " +
			"năm trước.",
		"Theo ban quản lý, phần lớn hàng hóa là nông sản và hàng dệt may được đưa đến các thị trường trong khu vực.",
		"Công nhân bốc dỡ làm việc ba ca mỗi ngày để các con tàu không phải neo đậu quá hai mươi bốn giờ ngoài khơi.",
		"Một bến mới dài bốn trăm mét đang được xây dựng ở phía nam và dự kiến hoàn thành vào mùa hè năm sau.",
		"Người dân quanh cảng mong con đường nối với quốc lộ sớm được mở rộng vì xe tải thường ùn tắc vào buổi sáng.",
		"Chính quyền cho biết dự án mở đường đã có vốn và nhà thầu sẽ được chọn trước cuối quý này.",
	}
	article := "<html><head><title>" + ArticleTitle + "</title></head><body><article><h1>" + ArticleTitle + "</h1>" +
		"<p>" + strings.Join(paragraphs, "</p><p>") + "</p></article></body></html>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprint(w,
				`<html><body><a href="/2026/11/22/cang-bien-12345.html">Cảng biển của chúng tôi hôm nay</a></body></html>`)
		case "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(w, article)
		}
	}))
	t.Cleanup(s.Close)
	return s
}
