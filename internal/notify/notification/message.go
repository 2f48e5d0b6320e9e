package notification

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/infra/webpage"
	"dateline/internal/notify/webhook"
)

// Message is the content of a notification, as stored until it is delivered. Links that
// allow a decision are added when it is sent.
type Message struct {
	Title   string  `json:"title"`
	Entries []Entry `json:"entries"`
	More    int     `json:"more,omitempty"` // events that are not listed
}

// Entry is the part of a message about one event.
type Entry struct {
	Type  string   `json:"type,omitempty"`
	Title string   `json:"title"`
	Lines []string `json:"lines,omitempty"`
	URL   string   `json:"url,omitempty"`
	Item  int64    `json:"item,omitempty"` // whose link allows a decision; 0: none
}

// Fact is an event with what a message shows of it.
type Fact struct {
	Item                           int64
	Type                           string // as in post_events
	At                             time.Time
	Actor                          string
	Data                           []byte
	PostID, TargetID               *uuid.UUID
	Network, Handle, RemoteURL     string
	Content, Site, Search, Article string
	Scheduled                      *time.Time
}

const (
	maxEntries = 20 // of a message
	maxExcerpt = 140
)

// data is what messages show of the data of an event.
type data struct {
	URL       string           `json:"url"`
	Code      string           `json:"code"`
	Message   string           `json:"message"`
	Params    message.Params   `json:"params"`
	Evidence  message.Messages `json:"evidence_parts"`
	Sent      *time.Time       `json:"sent"`
	Note      string           `json:"note"`
	Domain    string           `json:"domain"`
	Days      int              `json:"days"`
	Seconds   int64            `json:"seconds"`
	Hour      *time.Time       `json:"hour"`
	Views     int64            `json:"views"`
	Usual     int64            `json:"usual"`
	Alert     string           `json:"alert"`
	SiteID    string           `json:"site_id"`
	ArticleID string           `json:"article_id"`
	StoryID   string           `json:"story_id"`
	PostID    string           `json:"post_id"`
	Title     string           `json:"title"`
	Owners    int              `json:"owners"`
	Rule      string           `json:"rule"`
	Reason    string           `json:"reason"`
	Watch     string           `json:"watch"`
	Lines     []string         `json:"lines"`
}

// cause is why something failed.
func (d data) cause() message.Message {
	return message.Message{Code: d.Code, Text: d.Message, Params: d.Params}
}

// found is what was found, or why nothing is known.
func (d data) found() message.Messages {
	if len(d.Evidence) == 0 && d.Message != "" {
		return message.Messages{d.cause()}
	}
	return d.Evidence
}

// messageKinds are the kinds of the messages in the data of events.
func messageKinds() []string { return []string{"note", "cause", "problem"} }

// titles are the titles of events; %s is what they are about.
func titles() map[string]webpage.Text {
	return map[string]webpage.Text{
		"posted":                {EN: "Published on %s", VI: "Đã đăng lên %s"},
		"failed":                {EN: "Not published on %s", VI: "Không đăng được lên %s"},
		"uncertain":             {EN: "Check whether it was published on %s", VI: "Cần kiểm tra đã đăng lên %s chưa"},
		"differs":               {EN: "Published otherwise than asked on %s", VI: "Bài trên %s khác với yêu cầu"},
		"late":                  {EN: "A post is late", VI: "Có bài viết bị trễ"},
		"submitted":             {EN: "Approval requested", VI: "Có bài chờ duyệt"},
		"approved":              {EN: "Post approved", VI: "Bài đã được duyệt"},
		"rejected":              {EN: "Changes requested", VI: "Bài bị yêu cầu sửa"},
		"needs_reconnect":       {EN: "Reconnect %s", VI: "Cần kết nối lại %s"},
		"expiring":              {EN: "Access to %s expires soon", VI: "Quyền truy cập %s sắp hết hạn"},
		"selectors_learned":     {EN: "New selectors for %s", VI: "Bộ chọn mới cho %s"},
		"selectors_rolled_back": {EN: "Selectors of %s rolled back", VI: "Bộ chọn của %s đã được khôi phục"},
		"selectors_failed": {
			EN: "Articles of %s can no longer be extracted", VI: "Không còn trích xuất được bài của %s",
		},
		"article_matched": {EN: "New article for %s", VI: "Bài mới cho %s"},
		"story_missed": {
			EN: "Other sources have a story, you do not: %s",
			VI: "Nơi khác đã đưa tin, bạn chưa có: %s",
		},
		"site_spike":       {EN: "Many more views than usual: %s", VI: "Lượt xem tăng vọt: %s"},
		"site_drop":        {EN: "Far fewer views than usual: %s", VI: "Lượt xem giảm mạnh: %s"},
		"rule_paused":      {EN: "The rule %s paused itself", VI: "Quy tắc %s đã tự tạm dừng"},
		"page_changed":     {EN: "Page changed: %s", VI: "Trang đã thay đổi: %s"},
		"system_trouble":   {EN: "Problem: %s", VI: "Sự cố: %s"},
		"system_recovered": {EN: "Solved: %s", VI: "Đã khắc phục: %s"},
	}
}

// pauseReasons says why a rule paused itself.
func pauseReasons() map[string]webpage.Text {
	return map[string]webpage.Text{
		"too_many_articles": {
			EN: "Far more articles matched in an hour than it may post.",
			VI: "Số bài khớp trong một giờ nhiều hơn hẳn số bài được phép đăng.",
		},
		"failures": {
			EN: "Several posts in a row could not be created.", VI: "Nhiều bài liên tiếp không tạo được.",
		},
		"saved_search_deleted": {EN: "Its saved search was deleted.", VI: "Tìm kiếm đã lưu của quy tắc đã bị xóa."},
	}
}

// Compose renders the events of a notification. total is their number; facts may be
// fewer. A message without entries is not sent.
func (c Channel) Compose(facts []Fact, total int, publicURL string, messages message.Catalog) (Message, error) {
	look := webpage.Preferences{Language: c.Language}
	var m Message
	for i, f := range facts {
		if i == maxEntries {
			break
		}
		e, err := c.entry(f, look, strings.TrimSuffix(publicURL, "/"), messages)
		if err != nil {
			return m, err
		}
		m.Entries = append(m.Entries, e)
	}
	m.More = max(total-len(m.Entries), 0)
	switch {
	case len(m.Entries) == 0:
	case total == 1:
		m.Title = m.Entries[0].Title
	default:
		m.Title = look.Translate(webpage.Text{EN: "%d notifications", VI: "%d thông báo"}, total)
	}
	return m, nil
}

func (c Channel) entry(f Fact, look webpage.Preferences, base string, messages message.Catalog) (Entry, error) {
	var d data
	if len(f.Data) > 0 {
		if err := json.Unmarshal(f.Data, &d); err != nil {
			return Entry{}, err
		}
	}
	about := first(f.Handle, f.Site, f.Search, d.Domain, d.Alert, d.Rule, d.Watch, d.Title)
	if f.Handle != "" {
		about = f.Handle + " (" + message.NetworkName(f.Network) + ")"
	}
	title := titles()[f.Type]
	e := Entry{Type: webhook.TypeOf(f.Type), Title: look.Translate(title)}
	if strings.Contains(title.EN, "%s") {
		e.Title = look.Translate(title, about)
	}
	e.Title = oneLine(e.Title)
	add := func(t webpage.Text, args ...any) { e.Lines = append(e.Lines, oneLine(look.Translate(t, args...))) }
	if f.Content != "" {
		add(webpage.Text{EN: "Post: %s", VI: "Bài: %s"}, excerpt(f.Content))
	}
	if f.PostID != nil {
		e.URL = base + "/app/posts/" + f.PostID.String()
	}
	when := func(t time.Time) string { return look.Time(t.In(c.Location())) + t.In(c.Location()).Format(" MST") }
	cause := func() string { return messages.Text(d.cause(), c.Location(), messageKinds()...) }
	switch f.Type {
	case "posted":
		if address := first(f.RemoteURL, d.URL); address != "" {
			e.URL = address
		}
	case "failed":
		add(webpage.Text{EN: "Reason: %s", VI: "Lý do: %s"}, cause())
	case "uncertain":
		e.Item = f.Item
		if d.Sent != nil {
			add(webpage.Text{
				EN: "Searched for: this text on %s, sent at %s.",
				VI: "Đã tìm: nội dung này trên %s, gửi lúc %s.",
			}, about, when(*d.Sent))
		}
		add(webpage.Text{EN: "Found: %s", VI: "Kết quả: %s"}, messages.Join(d.found(), c.Location(), messageKinds()...))
	case "differs":
		for _, one := range d.Evidence {
			e.Lines = append(e.Lines, oneLine(messages.Text(one, c.Location(), messageKinds()...)))
		}
	case "late":
		if f.Scheduled != nil {
			add(webpage.Text{EN: "It was due at %s.", VI: "Lịch đăng: %s."}, when(*f.Scheduled))
		}
	case "submitted":
		if f.Scheduled != nil {
			add(webpage.Text{EN: "It is scheduled for %s.", VI: "Lịch đăng: %s."}, when(*f.Scheduled))
		}
	case "approved", "rejected":
		if d.Note != "" {
			add(webpage.Text{EN: "Note: %s", VI: "Ghi chú: %s"}, excerpt(d.Note))
		}
	case "needs_reconnect", "expiring":
		e.URL = base + "/app/accounts"
		if d.Days > 0 {
			add(webpage.Text{EN: "Days left: %d", VI: "Số ngày còn lại: %d"}, d.Days)
		}
	case "selectors_learned", "selectors_rolled_back", "selectors_failed":
		e.URL = base + "/app/news/domains/" + url.PathEscape(d.Domain) + "/selectors"
	case "article_matched":
		if f.Article != "" {
			e.Lines = append(e.Lines, oneLine(f.Article))
		}
		e.URL = d.URL
		if d.ArticleID != "" {
			e.URL = base + "/app/news/articles/" + url.PathEscape(d.ArticleID)
		}
	case "story_missed":
		add(webpage.Text{EN: "Owners of sources that have it: %d", VI: "Số đơn vị đã đưa tin: %d"}, d.Owners)
		e.URL = base + "/app/news/stories/" + url.PathEscape(d.StoryID)
		if d.PostID != "" {
			add(webpage.Text{EN: "Prepared draft: %s", VI: "Bài nháp đã soạn sẵn: %s"},
				base+"/app/posts/"+url.PathEscape(d.PostID))
		}
	case "site_spike", "site_drop":
		if d.Hour != nil {
			add(webpage.Text{
				EN: "%d views in the hour from %s; usual are %d.",
				VI: "%d lượt xem trong giờ từ %s; bình thường %d.",
			}, d.Views, when(*d.Hour), d.Usual)
		}
		e.URL = base + "/app/readers?site=" + url.QueryEscape(d.SiteID)
	case "rule_paused":
		if reason, ok := pauseReasons()[d.Reason]; ok {
			add(reason)
		}
		if d.Message != "" {
			add(webpage.Text{EN: "Reason: %s", VI: "Lý do: %s"}, cause())
		}
		e.URL = base + "/app/rules"
	case "page_changed":
		for _, text := range d.Lines {
			e.Lines = append(e.Lines, oneLine(excerpt(text)))
		}
		e.URL = base + "/app/news/watches"
	case "system_trouble", "system_recovered":
		if d.Message != "" {
			e.Lines = append(e.Lines, oneLine(d.Message))
		}
		e.URL = base + "/app/system"
	}
	return e, nil
}

// testMessage is what the test of a channel sends.
func (c Channel) testMessage(publicURL string) Message {
	look := webpage.Preferences{Language: c.Language}
	return Message{
		Title: look.Translate(webpage.Text{EN: "Test notification", VI: "Thông báo thử"}),
		Entries: []Entry{
			{
				Title: look.Translate(webpage.Text{
					EN: "Notifications of Dateline arrive here.",
					VI: "Thông báo của Dateline được gửi đến đây.",
				}), URL: strings.TrimSuffix(publicURL, "/") + "/app",
			},
		},
	}
}

// confirmMessage asks the recipient of emails to agree. It contains nothing that its
// member wrote, so that it cannot be used to send texts to others.
func (c Channel) confirmMessage() Message {
	look := webpage.Preferences{Language: c.Language}
	return Message{
		Title: look.Translate(webpage.Text{
			EN: "Confirm your email address", VI: "Xác nhận địa chỉ email của bạn",
		}),
		Entries: []Entry{{Lines: []string{look.Translate(
			webpage.Text{
				EN: "A member of a newsroom wants to get notifications of Dateline at this address. Confirm " +
					"it to get them:",
				VI: "Một thành viên của tòa soạn muốn nhận thông báo của Dateline tại địa chỉ này. Hãy xác nhận để " +
					"nhận thông báo:",
			})}}},
	}
}

// confirmFooter follows the link to confirm.
func confirmFooter() webpage.Text {
	return webpage.Text{
		EN: "If you did not ask for this, ignore this email: nothing else is sent to you.",
		VI: "Nếu bạn không yêu cầu, hãy bỏ qua email này: bạn sẽ không nhận thêm email nào.",
	}
}

// line is a line of a rendered message. Texts come from users and pages, and are escaped
// for the markup of a service.
type line struct {
	text  string
	url   bool
	title bool
}

// lines renders a message as lines of text. decide returns the links of an item.
func (m Message) lines(
	look webpage.Preferences, decide func(item int64) (published, absent string, err error),
) (out []line, err error) {
	for i, e := range m.Entries {
		if i > 0 {
			out = append(out, line{})
		}
		if e.Title != "" && e.Title != m.Title {
			out = append(out, line{text: e.Title, title: true})
		}
		for _, text := range e.Lines {
			out = append(out, line{text: text})
		}
		if e.Item != 0 {
			published, absent, err := decide(e.Item)
			if err != nil {
				return nil, err
			}
			out = append(out, line{text: look.Translate(webpage.Text{EN: "It is published:", VI: "Bài đã được đăng:"})},
				line{text: published, url: true},
				line{text: look.Translate(webpage.Text{
					EN: "It is not published, send it again:",
					VI: "Bài chưa được đăng, gửi lại:",
				})}, line{text: absent, url: true},
				line{text: look.Translate(webpage.Text{EN: "The post:", VI: "Bài viết:"})})
		}
		if e.URL != "" {
			out = append(out, line{text: e.URL, url: true})
		}
	}
	if m.More > 0 {
		out = append(out, line{}, line{
			text: look.Translate(webpage.Text{EN: "And %d more.", VI: "Và %d thông báo khác."}, m.More),
		})
	}
	return out, nil
}

// joined joins lines; escape is applied to texts and not to URLs.
func joined(lines []line, escape func(string) string) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		if texts[i] = l.text; !l.url && escape != nil {
			texts[i] = escape(l.text)
		}
	}
	return strings.Join(texts, "\n")
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func excerpt(text string) string {
	runes := []rune(oneLine(text))
	if len(runes) <= maxExcerpt {
		return string(runes)
	}
	return string(runes[:maxExcerpt-1]) + "…"
}

// oneLine replaces line breaks: names and texts of users may contain any.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (m Message) encode() (string, error) {
	raw, err := json.Marshal(m)
	return string(raw), err
}

func decode(body string) (m Message, err error) {
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, fmt.Errorf("read a notification: %w", err)
	}
	return m, nil
}
