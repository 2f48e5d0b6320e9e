package message_test

import (
	"testing"
	"time"

	"dateline/internal/infra/message"
)

func TestCatalog_WritesSentencesInItsLanguage(t *testing.T) {
	t.Parallel()
	c, err := message.ParseCatalog([]byte(`{
		"note": {
			"listed": "Đã đọc {posts} bài[, từ {from_at}] .",
			"waited": ["Đã chờ {length_seconds} cho {used_bytes}.", "Đã chờ {length_seconds}."],
			"said": "{message}"
		},
		"cause": {"timeout": "Không có phản hồi kịp lúc."}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	zone := time.FixedZone("", 7*3600)
	for _, row := range []struct {
		name string
		m    message.Message
		want string
	}{
		{
			"values",
			message.Message{
				Code:   "listed",
				Params: message.Params{"posts": 12000.0, "from_at": "2026-11-22T16:41:00Z"},
			},
			"Đã đọc 12.000 bài, từ 23:41, 22/11/2026.",
		},
		{"an optional part", message.Message{Code: "listed", Params: message.Params{"posts": 3}}, "Đã đọc 3 bài."},
		{
			"the first complete template",
			message.Message{Code: "waited", Params: message.Params{"length_seconds": 80.3}},
			"Đã chờ 80,3 giây.",
		},
		{
			"units",
			message.Message{
				Code:   "waited",
				Params: message.Params{"length_seconds": 300.0, "used_bytes": 1_400_000.0},
			},
			"Đã chờ 5 phút cho 1,4 MB.",
		},
		{"another kind", message.Message{Code: "timeout", Text: "It timed out."}, "Không có phản hồi kịp lúc."},
		{"the sentence itself", message.Message{Code: "said", Text: "Quota exceeded."}, "Quota exceeded."},
		{"an unknown code", message.Message{Code: "new", Text: "Something new."}, "Something new."},
		{"a missing value", message.Message{Code: "waited", Text: "Waited."}, "Waited."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := c.Text(row.m, zone, "note", "cause"); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
	if got := (message.Catalog{}).Join(message.Messages{{Code: "listed", Text: "Listed."}, {Text: "Not found."}}, zone,
		"note"); got != "Listed. Not found." {
		t.Errorf("without a catalog: got %q, want English", got)
	}
}
