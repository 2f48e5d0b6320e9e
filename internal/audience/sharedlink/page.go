package sharedlink

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/audience/reporttext"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/throttle"
	"dateline/internal/infra/webpage"
)

//go:embed report.html
var reportHTML string

//go:embed password.html
var passwordHTML string

// Reporter computes reports: report.Reporter.
type Reporter interface {
	Report(ctx context.Context, q report.Query) (report.Report, error)
}

// Pages serves shared reports as pages without scripts.
type Pages struct {
	Service *Service
	Reports Reporter
	Log     *slog.Logger

	requests  *throttle.Limiter // by address
	passwords *throttle.Limiter // by link
}

// NewPages returns Pages.
func NewPages(s *Service, r Reporter, log *slog.Logger) *Pages {
	return &Pages{
		Service: s, Reports: r, Log: log, requests: throttle.New(30, time.Second),
		passwords: throttle.New(10, 30*time.Second),
	}
}

const (
	rowsPerTable = 10
	// minShown is the smallest number of a row that is shown; smaller ones could
	// identify readers and are added to the rest.
	minShown = 5
	// keyTimeout is how long a browser need not enter the password again.
	keyTimeout = 12 * time.Hour
)

// Serve serves a shared report; client is the reader's address.
func (p *Pages) Serve(w http.ResponseWriter, r *http.Request, token, client string) {
	look := webpage.PreferencesOf(r)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Referrer-Policy", "no-referrer")
	if wait, ok := p.requests.Allow(throttle.ClientKey(client), time.Now()); !ok {
		p.tooMany(w, look, wait)
		return
	}
	key := ""
	if c, err := r.Cookie(cookieName(token)); err == nil {
		key = c.Value
	}
	o, err := p.Service.Open(r.Context(), token, key)
	if err != nil {
		p.fail(w, r, look, err)
		return
	}
	p.setPolicy(h, o.Link)
	switch {
	case r.Method == http.MethodPost:
		p.unlock(w, r, look, token, &o)
	case o.Locked:
		p.askPassword(w, look, "")
	default:
		p.show(w, r, look, o)
	}
}

// setPolicy allows the origins of a link to embed the page. X-Frame-Options would
// forbid it; frame-ancestors replaces it (CSP Level 3, 6.4.2).
func (p *Pages) setPolicy(h http.Header, l Link) {
	ancestors := "'none'"
	if len(l.EmbedOrigins) > 0 {
		ancestors = strings.Join(l.EmbedOrigins, " ")
		h.Del("X-Frame-Options")
	}
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+webpage.StyleSource()+
		"; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors "+ancestors)
}

// cookieName is a name per link: browsers send a cookie's path only to the server.
func cookieName(token string) string {
	return "dateline-shared-" + hex.EncodeToString(hashToken(token)[:4])
}

func (p *Pages) unlock(w http.ResponseWriter, r *http.Request, look webpage.Preferences, token string, o *Opened) {
	if wait, ok := p.passwords.Allow(o.Link.ID.String(), time.Now()); !ok {
		p.tooMany(w, look, wait)
		return
	}
	key, ok := o.Unlock(token, r.PostFormValue("password"))
	if !ok {
		p.askPassword(w, look, look.Translate(webpage.Text{EN: "This password is wrong.", VI: "Mật khẩu không đúng."}))
		return
	}
	//nolint:gosec // Secure depends on the public URL: a development server has no TLS
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(token), Value: key, Path: "/", MaxAge: int(keyTimeout.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(p.Service.PublicURL, "https://"),
	})
	http.Redirect(w, r, "?", http.StatusSeeOther) // to this page, relative to its URL
}

func (p *Pages) askPassword(w http.ResponseWriter, look webpage.Preferences, problem string) {
	body, err := look.Body(passwordHTML, map[string]string{
		"Label": look.Translate(webpage.Text{EN: "Password", VI: "Mật khẩu"}),
		"Open":  look.Translate(webpage.Text{EN: "Open the report", VI: "Mở báo cáo"}),
	})
	status := http.StatusOK
	if problem != "" {
		status = http.StatusForbidden
	}
	p.write(w, look, status,
		webpage.Page{
			Title: look.Translate(webpage.Text{EN: "Shared report", VI: "Báo cáo được chia sẻ"}),
			Error: problem, Body: body,
		}, err)
}

func (p *Pages) tooMany(w http.ResponseWriter, look webpage.Preferences, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	p.write(w, look, http.StatusTooManyRequests,
		webpage.Page{
			Title: look.Translate(webpage.Text{EN: "Too many requests", VI: "Quá nhiều yêu cầu"}),
			Texts: []string{look.Translate(webpage.Text{
				EN: "Wait a moment, then reload this page.",
				VI: "Hãy đợi một lát rồi tải lại trang.",
			})},
		}, nil)
}

func (p *Pages) fail(w http.ResponseWriter, r *http.Request, look webpage.Preferences, err error) {
	var known *apperr.Error
	if errors.As(err, &known) && known.Kind == apperr.KindNotFound {
		p.write(w, look, http.StatusNotFound,
			webpage.Page{
				Title: look.Translate(webpage.Text{
					EN: "This report is not shared", VI: "Báo cáo này không được chia sẻ",
				}),
				Texts: []string{
					look.Translate(webpage.Text{
						EN: "The link is wrong, has expired or was revoked. Ask the newsroom for a new one.",
						VI: "Liên kết không đúng, đã hết hạn hoặc đã bị thu hồi. Hãy xin tòa soạn một liên kết mới.",
					}),
				},
			}, nil)
		return
	}
	p.Log.ErrorContext(r.Context(), "a shared report was not shown", "error", err)
	w.Header().Set("Retry-After", "5")
	p.write(w, look, http.StatusServiceUnavailable,
		webpage.Page{
			Title: look.Translate(webpage.Text{
				EN: "The report is not available", VI: "Không mở được báo cáo",
			}),
			Texts: []string{look.Translate(webpage.Text{
				EN: "Reload this page in a moment.",
				VI: "Hãy tải lại trang sau ít phút.",
			})},
		}, nil)
}

func (p *Pages) write(w http.ResponseWriter, look webpage.Preferences, status int, page webpage.Page, err error) {
	text, err2 := look.HTML(page)
	if err = errors.Join(err, err2); err != nil {
		p.Log.Error("a page was not rendered", "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) //nolint:gosec // html/template escaped it
}

// ranges lists the ranges of days that can be chosen.
func ranges(filters report.Filters) []int {
	return slices.DeleteFunc([]int{7, 28, 90, 365}, func(days int) bool { return days > filters.MaxDays() })
}

const defaultRange = 28

func (p *Pages) show(w http.ResponseWriter, r *http.Request, look webpage.Preferences, o Opened) {
	days := defaultRange
	for _, n := range ranges(o.Link.Filters) {
		if r.URL.Query().Get("days") == strconv.Itoa(n) {
			days = n
		}
	}
	counted, err := o.Site.CounterSite()
	if err != nil {
		p.fail(w, r, look, err)
		return
	}
	today := counter.DayAt(time.Now(), counted.Zone)
	result, err := p.Reports.Report(r.Context(), report.Query{
		Site: counted, From: today - counter.Day(days) + 1,
		To: today, Compare: report.PreviousPeriod,
		Filters: o.Link.Filters, Limit: rowsPerTable,
	})
	if err != nil {
		p.fail(w, r, look, err)
		return
	}
	body, err := look.Body(reportHTML, p.view(look, o.Site, o.Link, result, days))
	p.write(w, look, http.StatusOK, webpage.Page{Brand: o.Site.Name, Title: o.Link.Name, HasTables: true, Body: body},
		err)
}

// view is what the template shows.
type view struct {
	Period, Updated, Filter, Note string
	Ranges                        []rangeLink
	Totals                        []total
	Chart, Running                template.HTMLAttr // the finished and the running part
	ChartLabel                    string
	Tables                        []table
}

type rangeLink struct {
	Days     int
	Text     string
	IsActive bool
}

type total struct{ Name, Value, Change string }

type table struct {
	Name, Metric string
	Rows         []tableRow
}

type tableRow struct{ Name, Value string }

func (p *Pages) view(look webpage.Preferences, w site.Site, l Link, r report.Report, days int) view {
	v := view{
		Period: reporttext.Days(look, r.Period.From.Time(), r.Period.To.Time()) + " (" + w.TimeZone + ")",
		Note: look.Translate(webpage.Text{
			EN: "Changes compare with as many days before. Visitors of several days " +
				"are the sum of the days. Rows with fewer than 5 are part of “Other”.",
			VI: "Mức thay đổi so với số ngày tương ứng trước đó. Khách truy cập của nhiều ngày là tổng của từng " +
				"ngày. Các dòng dưới 5 được gộp vào “Khác”.",
		}),
	}
	v.Filter = reporttext.Filter(look, l.Filters)
	if !r.UpdatedAt.IsZero() && r.Site.Zone != nil {
		v.Updated = look.Translate(webpage.Text{EN: "Updated %s", VI: "Cập nhật lúc %s"},
			look.Time(r.UpdatedAt.In(r.Site.Zone)))
	}
	for _, n := range ranges(l.Filters) {
		v.Ranges = append(v.Ranges, rangeLink{
			n, look.Translate(webpage.Text{EN: "%d days", VI: "%d ngày"}, n), n == days,
		})
	}
	v.Totals = totals(look, r)
	v.Chart, v.Running = chart(r)
	v.ChartLabel = look.Translate(webpage.Text{
		EN: "Views over time", VI: "Lượt xem theo thời gian",
	})
	for _, t := range r.Tables {
		if one := shownTable(look, t); len(one.Rows) > 0 {
			v.Tables = append(v.Tables, one)
		}
	}
	return v
}

func totals(look webpage.Preferences, r report.Report) []total {
	before := report.Totals{}
	if r.Compared != nil {
		before = r.Compared.Totals
	}
	var out []total
	for _, m := range reporttext.Metrics() {
		if now := m.Of(r.Period.Totals); now != nil {
			out = append(out, total{
				look.Translate(m.Name), reporttext.Number(look, *now), reporttext.Change(m.Of(before), *now),
			})
		}
	}
	return out
}

// chart returns the points of the lines of 600 x 120: of what is over, and of the day or hour that is not. A period
// that is not over is lower for that reason, which is why it is dashed.
func chart(r report.Report) (finished, running template.HTMLAttr) {
	series := r.Period.Series
	largest := int64(1)
	for _, b := range series {
		if b.Views != nil {
			largest = max(largest, *b.Views)
		}
	}
	var points []string
	for i, b := range series {
		if b.Views != nil && len(series) > 1 {
			points = append(points, fmt.Sprintf("%.1f,%.1f", float64(i)*600/float64(len(series)-1),
				118-float64(*b.Views)*116/float64(largest)))
		}
	}
	attribute := func(points []string) template.HTMLAttr {
		return template.HTMLAttr(`points="` + strings.Join(points, " ") + `"`) //nolint:gosec // numbers
	}
	if r.Period.Until == nil || len(points) < 2 {
		return attribute(points), attribute(nil)
	}
	last := len(points) - 1
	return attribute(points[:last]), attribute(points[last-1:])
}

// shownTable returns a table in which small numbers are part of the rest.
func shownTable(look webpage.Preferences, t report.TableResult) table {
	metric := reporttext.MetricOf(t)
	out := table{Name: look.Translate(reporttext.Tables()[t.By]), Metric: look.Translate(metric.Name)}
	rest := int64(0)
	if t.Rest != nil {
		rest = *t.Rest
	}
	for _, row := range t.Rows {
		switch n := metric.Of(row.Totals); {
		case n == nil:
		case *n < minShown:
			rest += *n
		default:
			out.Rows = append(out.Rows, tableRow{
				reporttext.Value(look, t.By, row.Value), reporttext.Number(look, *n),
			})
		}
	}
	if rest > 0 && len(out.Rows) > 0 {
		out.Rows = append(out.Rows, tableRow{look.Translate(reporttext.Other()), reporttext.Number(look, rest)})
	}
	return out
}
