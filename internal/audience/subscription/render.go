package subscription

import (
	_ "embed"
	htmltemplate "html/template"
	"net/url"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/report"
	"dateline/internal/audience/reporttext"
	"dateline/internal/infra/webpage"
)

//go:embed email.html
var emailHTML string

//go:embed email.txt
var emailText string

// Path is the path prefix of pages for unsubscribing.
const Path = "/unsubscribe/"

// content is what the templates of emails show.
type content struct {
	Language                    string
	Title, Lead                 string
	Totals                      []total
	Tables                      []table
	Note                        string
	Link, LinkText              string
	Unsubscribe, UnsubscribeURL string
}

type total struct{ Name, Value, Change string }

type table struct {
	Name, Metric string
	Rows         []tableRow
}

type tableRow struct{ Name, Value string }

// build renders an email.
func (c content) build(s SiteSubscription, publicURL, subject string) (Email, error) {
	look := webpage.Preferences{Language: s.Language}
	c.Language = string(s.Language)
	c.UnsubscribeURL = strings.TrimSuffix(publicURL, "/") + Path + s.Token
	c.Unsubscribe = look.Translate(webpage.Text{EN: "Unsubscribe", VI: "Hủy nhận email"})
	var text, html strings.Builder
	asText, err := texttemplate.New("text").Parse(emailText)
	if err != nil {
		return Email{}, err
	}
	asHTML, err := htmltemplate.New("html").Parse(emailHTML)
	if err != nil {
		return Email{}, err
	}
	if err := asText.Execute(&text, c); err != nil {
		return Email{}, err
	}
	if err := asHTML.Execute(&html, c); err != nil {
		return Email{}, err
	}
	return Email{
		WorkspaceID: s.WorkspaceID, SubscriptionID: s.ID, To: s.Email, Subject: oneLine(subject),
		Text: text.String(), HTML: html.String(), UnsubscribeURL: c.UnsubscribeURL,
	}, nil
}

// oneLine replaces line breaks: names of sites may contain any text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// reportEmail renders a report with all its numbers.
func reportEmail(publicURL string, s SiteSubscription, r report.Report) (Email, error) {
	look := webpage.Preferences{Language: s.Language}
	title := webpage.Text{EN: "%s: the week from %s to %s", VI: "%s: tuần từ %s đến %s"}
	if s.Kind == Monthly {
		title = webpage.Text{EN: "%s: the month from %s to %s", VI: "%s: tháng từ %s đến %s"}
	}
	from, to := r.Period.From.Time().Format(time.DateOnly), r.Period.To.Time().Format(time.DateOnly)
	c := content{
		Title: look.Translate(title, s.Site.Name, look.Day(r.Period.From.Time()),
			look.Day(r.Period.To.Time())),
		Lead: look.Translate(webpage.Text{
			EN: "Changes compare with as many days before.", VI: "Mức thay đổi so với số ngày tương ứng trước đó.",
		}),
		Note: look.Translate(webpage.Text{
			EN: "Visitors are the sum of the days: who reads on three days counts three times.",
			VI: "Khách truy cập là tổng của từng ngày: người đọc trong ba ngày được tính ba lần.",
		}),
		Link:     dashboard(publicURL, s.SiteID, from, to),
		LinkText: look.Translate(webpage.Text{EN: "Open in Dateline", VI: "Mở trong Dateline"}),
	}
	before := report.Totals{}
	if r.Compared != nil {
		before = r.Compared.Totals
	}
	for _, m := range reporttext.Metrics() {
		if now := m.Of(r.Period.Totals); now != nil {
			c.Totals = append(c.Totals, total{
				look.Translate(m.Name), reporttext.Number(look, *now), reporttext.Change(m.Of(before), *now),
			})
		}
	}
	for _, t := range r.Tables {
		if !slices.Contains([]report.Table{report.Pages, report.Sources, report.Channels, report.Countries}, t.By) {
			continue
		}
		metric := reporttext.MetricOf(t)
		one := table{Name: look.Translate(reporttext.Tables()[t.By]), Metric: look.Translate(metric.Name)}
		for _, row := range t.Rows {
			if n := metric.Of(row.Totals); n != nil {
				one.Rows = append(one.Rows, tableRow{
					reporttext.Value(look, t.By, row.Value), reporttext.Number(look, *n),
				})
			}
		}
		if len(one.Rows) > 0 {
			c.Tables = append(c.Tables, one)
		}
	}
	views := int64(0)
	if r.Period.Views != nil {
		views = *r.Period.Views
	}
	return c.build(s, publicURL, look.Translate(webpage.Text{EN: "%s: %s views", VI: "%s: %s lượt xem"}, s.Site.Name,
		reporttext.Number(look, views)))
}

// alertEmail renders an alert.
func alertEmail(publicURL string, s SiteSubscription, a Alert, zone *time.Location) (Email, error) {
	look := webpage.Preferences{Language: s.Language}
	title := webpage.Text{EN: "%s: many more views than usual", VI: "%s: lượt xem tăng đột biến"}
	lead := webpage.Text{
		EN: "%s views between %s and %s; usually %s in the same hour of a week.",
		VI: "%s lượt xem từ %s đến %s; thường là %s trong cùng giờ hằng tuần.",
	}
	note := webpage.Text{}
	if a.Kind == Drop {
		title = webpage.Text{EN: "%s: far fewer views than usual", VI: "%s: lượt xem giảm mạnh"}
		note = webpage.Text{
			EN: "If the site is up, check that its pages still contain the tracker.",
			VI: "Nếu trang web vẫn hoạt động, hãy kiểm tra xem các trang còn mã theo dõi không.",
		}
	}
	hour := a.Hour.In(zone)
	day := hour.Format(time.DateOnly)
	c := content{
		Title: look.Translate(title, s.Site.Name),
		Lead: look.Translate(lead, reporttext.Number(look, a.Views), hour.Format("15:04"),
			hour.Add(time.Hour).Format("15:04"), reporttext.Number(look, a.Usual)),
		Note: look.Translate(note), Link: dashboard(publicURL, s.SiteID, day, day),
		LinkText: look.Translate(webpage.Text{EN: "Open in Dateline", VI: "Mở trong Dateline"}),
	}
	e, err := c.build(s, publicURL, c.Title)
	e.ID = uuid.NewSHA1(s.ID, a.ID[:])
	return e, err
}

// dashboard returns the address of a report in the dashboard.
func dashboard(publicURL string, site uuid.UUID, from, to string) string {
	return strings.TrimSuffix(publicURL, "/") + "/app/readers?" + url.Values{
		"site": {site.String()}, "from": {from},
		"to": {to},
	}.Encode()
}
