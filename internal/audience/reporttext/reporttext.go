// Package reporttext writes what reports outside of the dashboard show, in the words of the dashboard.
package reporttext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/infra/webpage"
)

// Metric is a total of a report.
type Metric struct {
	Key  string // as in the API
	Name webpage.Text
	Of   func(report.Totals) *int64
}

// Metrics lists the totals of a short report.
func Metrics() []Metric {
	return []Metric{
		{"views", webpage.Text{EN: "Views", VI: "Lượt xem"}, func(t report.Totals) *int64 { return t.Views }},
		{
			"visitors",
			webpage.Text{EN: "Visitors", VI: "Khách truy cập"},
			func(t report.Totals) *int64 { return t.Visitors },
		},
		{"visits", webpage.Text{EN: "Visits", VI: "Lượt truy cập"}, func(t report.Totals) *int64 { return t.Visits }},
	}
}

// MetricOf returns the total that a table's rows are ordered by.
func MetricOf(t report.TableResult) Metric {
	for _, m := range Metrics() {
		if m.Key == t.Metric {
			return m
		}
	}
	return Metrics()[0]
}

// Tables are the names of tables.
func Tables() map[report.Table]webpage.Text {
	return map[report.Table]webpage.Text{
		report.Pages: {EN: "Pages", VI: "Trang"}, report.EntryPages: {EN: "Entry pages", VI: "Trang đích"},
		report.Sources: {EN: "Sources", VI: "Nguồn"}, report.Channels: {EN: "Channels", VI: "Kênh"},
		report.Campaigns: {EN: "Campaigns", VI: "Chiến dịch"}, report.Countries: {EN: "Countries", VI: "Quốc gia"},
		report.Devices: {EN: "Devices", VI: "Thiết bị"}, report.Browsers: {EN: "Browsers", VI: "Trình duyệt"},
		report.Systems:   {EN: "Operating systems", VI: "Hệ điều hành"},
		report.Referrers: {EN: "Referrers", VI: "Trang giới thiệu"},
	}
}

// Filters are the names of filters, with the table of their values.
func Filters() map[string]struct {
	Name webpage.Text
	By   report.Table
} {
	type filter = struct {
		Name webpage.Text
		By   report.Table
	}
	return map[string]filter{
		report.PageFilter: {webpage.Text{EN: "Page", VI: "Trang"}, report.Pages},
		counter.Channel:   {webpage.Text{EN: "Channel", VI: "Kênh"}, report.Channels},
		counter.Source:    {webpage.Text{EN: "Source", VI: "Nguồn"}, report.Sources},
		counter.Campaign:  {webpage.Text{EN: "Campaign", VI: "Chiến dịch"}, report.Campaigns},
		counter.Country:   {webpage.Text{EN: "Country", VI: "Quốc gia"}, report.Countries},
		counter.Device:    {webpage.Text{EN: "Device", VI: "Thiết bị"}, report.Devices},
		counter.Browser:   {webpage.Text{EN: "Browser", VI: "Trình duyệt"}, report.Browsers},
		counter.OS:        {webpage.Text{EN: "Operating system", VI: "Hệ điều hành"}, report.Systems},

		report.AuthorFilter:  {webpage.Text{EN: "Author", VI: "Tác giả"}, report.Authors},
		report.SectionFilter: {webpage.Text{EN: "Section", VI: "Chuyên mục"}, report.Sections},
		report.TagFilter:     {webpage.Text{EN: "Tag", VI: "Thẻ"}, report.Tags},
	}
}

// Channels are the names of channels.
func Channels() map[string]webpage.Text {
	return map[string]webpage.Text{
		"direct": {EN: "Direct", VI: "Trực tiếp"}, "internal": {EN: "Internal", VI: "Nội bộ"},
		"search": {EN: "Search", VI: "Tìm kiếm"}, "social": {EN: "Social", VI: "Mạng xã hội"},
		"video": {EN: "Video", VI: "Video"}, "ai": {EN: "AI assistants", VI: "Trợ lý AI"},
		"news": {EN: "News apps", VI: "Ứng dụng tin tức"}, "email": {EN: "Email", VI: "Email"},
		"push": {EN: "Push notifications", VI: "Thông báo đẩy"}, "sms": {EN: "SMS", VI: "SMS"},
		"affiliate":   {EN: "Affiliates", VI: "Đơn vị liên kết"},
		"display":     {EN: "Display ads", VI: "Quảng cáo hiển thị"},
		"paid_search": {EN: "Paid search", VI: "Tìm kiếm có trả tiền"},
		"paid_social": {EN: "Paid social", VI: "Mạng xã hội có trả tiền"},
		"paid_video":  {EN: "Paid video", VI: "Video có trả tiền"},
		"paid_other":  {EN: "Other ads", VI: "Quảng cáo khác"}, "referral": {EN: "Referral", VI: "Giới thiệu"},
	}
}

// Devices are the names of devices.
func Devices() map[string]webpage.Text {
	return map[string]webpage.Text{
		"desktop": {EN: "Desktop", VI: "Máy tính"}, "mobile": {EN: "Mobile", VI: "Điện thoại"},
		"tablet": {EN: "Tablet", VI: "Máy tính bảng"},
	}
}

// Other is the name of what has no row.
func Other() webpage.Text { return webpage.Text{EN: "Other", VI: "Khác"} }

// Redacted is the name of values that may contain personal data.
func Redacted() webpage.Text { return webpage.Text{EN: "Redacted", VI: "Đã ẩn"} }

// Value names a value of a table.
func Value(look webpage.Preferences, by report.Table, value string) string {
	text, ok := webpage.Text{}, false
	switch {
	case value == "other":
		text, ok = Other(), true
	case value == "redacted" && by != report.Pages:
		text, ok = Redacted(), true
	// A visit without a known source has its channel as source.
	case by == report.Channels || by == report.Sources && (value == "direct" || value == "internal"):
		text, ok = Channels()[value]
	case by == report.Devices:
		text, ok = Devices()[value]
	case by == report.Countries:
		return country(look, value)
	}
	if !ok {
		return value
	}
	return look.Translate(text)
}

// country names a code of ISO 3166-1.
func country(look webpage.Preferences, code string) string {
	region, err := language.ParseRegion(code)
	if err != nil || len(code) != 2 {
		return code
	}
	names := display.Regions(language.English)
	if look.Language == webpage.Vietnamese {
		names = display.Regions(language.Vietnamese)
	}
	if name := names.Name(region); name != "" {
		return name
	}
	return code
}

// Filter writes the filters of a report; values of the same name are alternatives.
func Filter(look webpage.Preferences, filters report.Filters) string {
	parts := make([]string, 0, len(filters))
	for _, f := range filters {
		known := Filters()[f.Name]
		values := make([]string, len(f.Values))
		for i, value := range f.Values {
			values[i] = Value(look, known.By, value)
		}
		parts = append(parts, look.Translate(known.Name)+": "+
			strings.Join(values, look.Translate(webpage.Text{EN: " or ", VI: " hoặc "})))
	}
	return strings.Join(parts, " · ")
}

// Days writes a range of days as the dashboard does.
func Days(look webpage.Preferences, from, to time.Time) string {
	if look.Language == webpage.Vietnamese {
		if from.Equal(to) {
			return to.Format("2/1/2006")
		}
		return from.Format("2/1/2006") + " – " + to.Format("2/1/2006")
	}
	switch {
	case from.Equal(to):
		return to.Format("Jan 2, 2006")
	case from.Year() != to.Year():
		return from.Format("Jan 2, 2006") + " – " + to.Format("Jan 2, 2006")
	case from.Month() != to.Month():
		return from.Format("Jan 2") + " – " + to.Format("Jan 2, 2006")
	default:
		return from.Format("Jan 2") + " – " + to.Format("2, 2006")
	}
}

// Number writes a number with the separators of the language.
func Number(look webpage.Preferences, n int64) string {
	separator := ","
	if look.Language == webpage.Vietnamese {
		separator = "."
	}
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}

// Change writes a change in percent; "" if it has no base.
func Change(before *int64, now int64) string {
	if before == nil || *before == 0 {
		return ""
	}
	return fmt.Sprintf("%+d%%", int(math.Round(float64(now-*before)/float64(*before)*100)))
}
