package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestOpenAPI_RequestsFromTheDescription sends generated requests, valid and invalid
// ones, to every operation of openapi.yaml. Every response must fit the description,
// and none may be a 5xx. Later requests use ids of earlier responses, so that more of
// them succeed. FuzzRequests continues with other seeds.
func TestOpenAPI_RequestsFromTheDescription(t *testing.T) {
	t.Parallel()
	s := start(t)
	g := newGenerator(s, 1)
	for range 24 {
		for _, o := range g.operations {
			g.send(o)
		}
	}
	g.reached(t)
}

// No request generated from the description causes a 5xx.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := start(t)
		g := newGenerator(s, seed)
		for range 300 {
			g.send(g.operations[g.rand.IntN(len(g.operations))])
		}
	})
}

type operation struct {
	method, path string
	shared       openapi3.Parameters // of all operations of the path
	*openapi3.Operation
}

// generator generates requests to a server.
type generator struct {
	*server
	rand       *rand.Rand
	operations []operation
	ids        []string            // seen in responses
	stored     map[string][]string // ids of created resources, by collection
	succeeded  map[string]bool
	tried      map[string]bool
}

func newGenerator(s *server, seed uint64) *generator {
	g := &generator{
		server: s, rand: rand.New(rand.NewPCG(seed, 2)), stored: map[string][]string{},
		succeeded: map[string]bool{}, tried: map[string]bool{},
	}
	for _, path := range slices.Sorted(maps.Keys(s.answers.doc.Paths.Map())) {
		item := s.answers.doc.Paths.Value(path)
		for method, o := range item.Operations() {
			g.operations = append(g.operations, operation{method, path, item.Parameters, o})
		}
	}
	slices.SortFunc(g.operations, func(a, b operation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	account := s.Connect("desk")
	seeded := s.send(http.MethodPost, "/api/v1/seeds", map[string]any{"url": "https://" + crawledDomain + "/"})
	if seeded.StatusCode != http.StatusCreated {
		s.t.Fatalf("%d %s", seeded.StatusCode, seeded.body)
	}
	for range 3 {
		g.note("/api/v1/posts", []byte(fmt.Sprintf(`{"id":%q}`, s.Schedule().ID)))
	}
	for i := range 5 {
		g.note("/api/v1/account-groups",
			s.send(http.MethodPost, "/api/v1/account-groups", object{
				"name": fmt.Sprint("Desk ", i), "color": "blue",
				"accounts": []any{account.ID}, "time_zone": "UTC",
			}).body)
		g.note("/api/v1/series", s.send(http.MethodPost, "/api/v1/series", daily()).body)
		g.note("/api/v1/sites", s.send(http.MethodPost, "/api/v1/sites", object{"name": fmt.Sprint("Site ", i)}).body)
		g.note("/api/v1/rules", s.send(http.MethodPost, "/api/v1/rules", newRule(account.ID)).body)
	}
	return g
}

// crawledDomain is one that the workspace has a seed on.
const crawledDomain = "news.example"

var (
	anyID = regexp.MustCompile(`"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"`)
	ownID = regexp.MustCompile(`"id":"([0-9a-f-]{36})"`)
)

// note remembers the ids of a response, except that of the token in use: revoking it
// would fail all later requests.
func (g *generator) note(path string, body []byte) {
	body = bytes.ReplaceAll(body, []byte(g.Owner.TokenID.String()), nil)
	for _, found := range anyID.FindAllSubmatch(body, 20) {
		if id := string(found[1]); !slices.Contains(g.ids, id) {
			g.ids = append(g.ids, id)
		}
	}
	collection := collectionOf(path)
	for _, found := range ownID.FindAllSubmatch(body, 20) {
		if id := string(found[1]); !slices.Contains(g.stored[collection], id) {
			g.stored[collection] = append(g.stored[collection], id)
		}
	}
}

// collectionOf returns a path up to its first parameter.
func collectionOf(path string) string {
	before, _, _ := strings.Cut(path, "/{")
	return before
}

// chance is true in one of n cases.
func (g *generator) chance(n int) bool { return g.rand.IntN(n) == 0 }

// send makes one request of an operation. The transport validates the response.
func (g *generator) send(o operation) {
	wrong := g.chance(2) // half of the requests are invalid
	path, query, headers := o.path, url.Values{}, []string{}
	for _, p := range slices.Concat(o.shared, o.Parameters) {
		if !p.Value.Required && g.chance(2) {
			continue
		}
		value := g.plain(p.Value.Name, p.Value.Schema, wrong)
		if known := g.stored[collectionOf(o.path)]; p.Value.Name == "id" && len(known) > 0 && !g.chance(8) {
			value = known[g.rand.IntN(len(known))]
		}
		if p.Value.Name == "domain" && !g.chance(8) {
			value = crawledDomain
		}
		switch p.Value.In {
		case openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(value))
		case openapi3.ParameterInQuery:
			query.Set(p.Value.Name, value)
		case openapi3.ParameterInHeader:
			headers = append(headers, p.Value.Name, strings.Map(printable, value))
		}
	}
	if encoded := query.Encode(); encoded != "" {
		path += "?" + encoded
	}
	var body any
	if o.RequestBody != nil {
		kinds := slices.Sorted(maps.Keys(o.RequestBody.Value.Content))
		kind := kinds[g.rand.IntN(len(kinds))]
		headers = append(headers, "Content-Type", kind)
		body = g.body(o.RequestBody.Value.Content[kind].Schema, kind, wrong)
	}
	if streams(o) {
		headers = append(headers, "Last-Event-ID", "0")
	}
	status, answer := g.exchange(o, path, body, headers)
	g.tried[o.method+" "+o.path] = true
	if status >= 500 && o.path != "/readyz" {
		g.t.Errorf("%s %s %v %v: %d %s", o.method, path, headers, body, status, answer)
	}
	if status < 300 {
		g.succeeded[o.method+" "+o.path] = true
		g.note(o.path, answer)
	}
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func streams(o operation) bool {
	ok := o.Responses.Value("200")
	return ok != nil && ok.Value.Content["text/event-stream"] != nil
}

// exchange sends a request. It reads only the headers of a stream.
func (g *generator) exchange(o operation, path string, body any, headers []string) (int, []byte) {
	if !streams(o) {
		a := g.server.send(o.method, path, body, headers...)
		return a.StatusCode, a.body
	}
	r, err := http.NewRequestWithContext(g.t.Context(), o.method, g.url+path, http.NoBody)
	g.Must(err)
	r.Header.Set("Authorization", "Bearer "+g.Token)
	res, err := g.client.Do(r)
	g.Must(err)
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 300 {
		return res.StatusCode, nil
	}
	raw, err := io.ReadAll(res.Body)
	g.Must(err)
	return res.StatusCode, raw
}

// body generates a request body.
func (g *generator) body(schema *openapi3.SchemaRef, kind string, wrong bool) any {
	if kind != "application/json" {
		return g.text(nil)
	}
	raw, err := json.Marshal(g.value("", schema, wrong, 0))
	g.Must(err)
	text := string(raw)
	if wrong && g.chance(6) {
		text = text[:g.rand.IntN(len(text)+1)]
	}
	return text
}

// plain generates the text of a parameter.
func (g *generator) plain(name string, schema *openapi3.SchemaRef, wrong bool) string {
	switch v := g.value(name, schema, wrong, 0).(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = fmt.Sprint(one)
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// value generates a value of a schema. Invalid ones may have another type or exceed a
// limit.
func (g *generator) value(name string, ref *openapi3.SchemaRef, wrong bool, depth int) any {
	if ref == nil || ref.Value == nil || depth > 6 {
		return nil
	}
	schema := ref.Value
	if wrong && g.chance(8) {
		return g.odd()
	}
	if of := slices.Concat(schema.OneOf, schema.AnyOf); len(of) > 0 {
		return g.value(name, of[g.rand.IntN(len(of))], wrong, depth+1)
	}
	if len(schema.Enum) > 0 {
		return schema.Enum[g.rand.IntN(len(schema.Enum))]
	}
	switch {
	case schema.Type.Permits("object"), len(schema.AllOf) > 0, len(schema.Properties) > 0:
		return g.object(schema, wrong, depth)
	case schema.Type.Permits("array"):
		list := []any{}
		for range g.rand.IntN(4) {
			list = append(list, g.value(name, schema.Items, wrong, depth+1))
		}
		return list
	case schema.Type.Permits("integer"), schema.Type.Permits("number"):
		return g.number(schema)
	case schema.Type.Permits("boolean"):
		return g.chance(2)
	default:
		if right := g.plausible(name); right != "" && (!wrong || !g.chance(4)) {
			return right
		}
		return g.text(schema)
	}
}

// plausible returns a likely value of a field by its name, or "" when any value will
// do.
func (g *generator) plausible(name string) string {
	later := time.Now().Add(time.Duration(g.rand.Int64N(int64(500 * time.Hour)))).UTC()
	switch name {
	case "email":
		return fmt.Sprintf("p%d@news.example", g.rand.IntN(1000))
	case "scheduled_time", "expires_at":
		return later.Format(time.RFC3339)
	case "start", "from", "occurrence":
		return later.Format("2006-01-02T15:04:05")
	case "network":
		return "mastodon"
	case "time_zone":
		return "Asia/Ho_Chi_Minh"
	case "language":
		return "vi"
	case "rule", "rrule", "recurrence":
		return "FREQ=DAILY;COUNT=5"
	case "url", "base_url", "address":
		return "https://93.184.216.34/hook"
	case "accounts":
		if ids := g.stored["/api/v1/accounts"]; len(ids) > 0 {
			return ids[g.rand.IntN(len(ids))]
		}
	case "content", "name", "description":
		return fmt.Sprintf("Bản tin %d", g.rand.IntN(1000))
	}
	return ""
}

func (g *generator) object(schema *openapi3.Schema, wrong bool, depth int) map[string]any {
	out := map[string]any{}
	for _, part := range schema.AllOf {
		if inner, ok := g.value("", part, wrong, depth+1).(map[string]any); ok {
			maps.Copy(out, inner)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		required := slices.Contains(schema.Required, name)
		if required && wrong && g.chance(10) || !required && g.chance(2) {
			continue
		}
		out[name] = g.value(name, schema.Properties[name], wrong, depth+1)
	}
	if wrong && g.chance(8) {
		out[g.text(nil)] = g.odd()
	}
	return out
}

func (g *generator) number(schema *openapi3.Schema) any {
	low, high := int64(0), int64(100)
	if schema.Min != nil {
		low = int64(*schema.Min)
	}
	if schema.Max != nil {
		high = int64(*schema.Max)
	}
	return low + g.rand.Int64N(max(high-low, 0)+1)
}

// text generates a string, mostly a valid one.
func (g *generator) text(schema *openapi3.Schema) string {
	if schema != nil {
		switch schema.Format {
		case "uuid":
			return g.id()
		case "date-time":
			return time.Now().Add(time.Duration(g.rand.Int64N(int64(1000*time.Hour)) - int64(time.Hour))).UTC().
				Format(time.RFC3339)
		case "uri":
			return "https://bao.example/" + g.id()
		}
	}
	words := []string{
		"Bản tin chiều", "", " ", "x", g.id(), "2030-01-02T03:04:05+07:00", "2030-01-02T03:04",
		"Asia/Ho_Chi_Minh", "FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO;COUNT=3",
		"https://bao.example/a?b=c", "mastodon", "vi", "posted", "\u0000", "👨‍👩‍👧 https://a.vn", "Ba\u0309n", "../../x",
		"'; drop table posts; --", "%00", "9999-12-31T23:59:59Z",
		strings.Repeat("dài ", 600), "-1", "null", "{}", "\u202e", "a,b", "@desk", "1e9", "P1D", "09:00",
	}
	return words[g.rand.IntN(len(words))]
}

// id returns mostly an existing id.
func (g *generator) id() string {
	if len(g.ids) == 0 || g.chance(8) {
		return "00000000-0000-7000-8000-000000000000"
	}
	return g.ids[g.rand.IntN(len(g.ids))]
}

// odd returns a value of any type.
func (g *generator) odd() any {
	all := []any{
		nil, true, -1, 1.5, 1e300, int64(1) << 53, "", "\u0000", strings.Repeat("x", 70_000),
		[]any{},
		[]any{nil, []any{}},
		map[string]any{},
		map[string]any{"a": map[string]any{}},
		g.text(nil),
	}
	return all[g.rand.IntN(len(all))]
}

// reached fails when most operations had no request that succeeded: the generator would
// then test little more than validation.
func (g *generator) reached(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d operations had a request that succeeded", len(g.succeeded), len(g.tried))
	if len(g.succeeded)*2 < len(g.tried) {
		t.Errorf("only %d of %d operations had a request that succeeded: %v", len(g.succeeded), len(g.tried),
			slices.Sorted(maps.Keys(g.succeeded)))
	}
}
