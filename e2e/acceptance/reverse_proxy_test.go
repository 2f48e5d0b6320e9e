package acceptance

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/testing/e2etest"
)

// proxyHost is the public name of the installation, as in docs/how-to/run-behind-a-proxy.md.
const proxyHost = "dateline.example.org"

// streamIdle is longer than the timeouts of the proxies' default settings: 60 s of nginx
// (proxy_read_timeout), 50 s of Debian's HAProxy (timeout client, timeout server).
const streamIdle = 70 * time.Second

// atOnce is how soon a stream's status and its events must arrive.
const atOnce = 3 * time.Second

// defaultNginxBody is client_max_body_size of nginx.
const defaultNginxBody = 1 << 20

// pictureBytes is about the size of a photo of a phone.
const pictureBytes = 5 << 20

// startProxy starts a proxy that listens on an address and forwards to another.
type startProxy func(t *testing.T, listen, to string)

// behindProxy is an installation behind a chain of proxies, the outermost first.
type behindProxy struct {
	*stack.Stack
	chain   []startProxy
	entry   string // address of the outermost proxy
	account string // connected, for drafts

	// What does not work without the settings of the docs.
	hidesReaders, limitsBodies, buffersStreams bool
}

// testReverseProxies puts nginx, Caddy and HAProxy in front of an api, with their default
// settings and what the docs tell operators to write.
func testReverseProxies(t *testing.T, program string) {
	s := stack.Open(t, stack.Engines{Env: []string{
		"DATELINE_PUBLIC_URL=http://" + proxyHost, "DATELINE_TRUSTED_PROXIES=127.0.0.1",
	}})
	makeBucket(t, s)
	s.Setup(program)
	api := strings.TrimPrefix(s.API("api", program).At, "http://")
	there, err := s.Net.AddAccount("desk")
	e2etest.Must(t, err)
	var desk struct{ ID string }
	status, err := s.Call(0, http.MethodPost, "/api/v1/accounts",
		map[string]string{"network": "mastodon", "base_url": s.Net.URL(), "access_token": there.Token}, &desk)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the account: %d %v", status, err)
	}
	nginx, bare := nginxWith(documented(t, "nginx")), nginxWith("location / { proxy_pass http://127.0.0.1:8080; }")
	caddy, haproxy := caddyWith(documented(t, "Caddy")), haproxyWith(documented(t, "HAProxy"))
	for name, p := range map[string]*behindProxy{
		"nginx":                     {chain: []startProxy{nginx}},
		"Caddy":                     {chain: []startProxy{caddy}},
		"HAProxy":                   {chain: []startProxy{haproxy}},
		"nginx in front of nginx":   {chain: []startProxy{nginx, nginx}},
		"nginx in front of HAProxy": {chain: []startProxy{nginx, haproxy}},
		"HAProxy in front of nginx": {chain: []startProxy{haproxy, nginx}},
		"Caddy in front of nginx":   {chain: []startProxy{caddy, nginx}},
		"bare nginx":                {chain: []startProxy{bare}, hidesReaders: true, limitsBodies: true},
		"bare nginx in front of nginx": {
			chain: []startProxy{bare, nginx}, hidesReaders: true, limitsBodies: true, buffersStreams: true,
		},
		"bare nginx in front of HAProxy": {chain: []startProxy{bare, haproxy}, hidesReaders: true, limitsBodies: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Stack, p.entry, p.account = s, api, desk.ID
			for i := len(p.chain) - 1; i >= 0; i-- {
				listen := "127.0.0.1:" + e2etest.FreePort(t)
				p.chain[i](t, listen, p.entry)
				p.entry = listen
			}
			e2etest.Eventually(t, 30*time.Second, "the proxy to answer", func() bool {
				answer, err := p.send(t, "127.0.0.1", http.MethodGet, "/livez", nil)
				return err == nil && answer.status == http.StatusOK
			})
			t.Run("Host", p.testHost)
			t.Run("Readers", p.testReaders)
			t.Run("Uploads", p.testUploads)
			t.Run("Streams", p.testStreams)
		})
	}
}

// testHost checks that the proxy passes on the name that the client asks for.
func (p *behindProxy) testHost(t *testing.T) {
	if p.hidesReaders {
		t.Skip("the default setting sends the address of the api")
	}
	answer, err := p.send(t, "127.0.0.1", http.MethodGet, "/api/v1/session", nil)
	if err != nil || answer.status != http.StatusOK && answer.status != http.StatusUnauthorized {
		t.Errorf("%s: got %v, %+v, want a response of the api", proxyHost, err, answer)
	}
	answer, err = p.send(t, "127.0.0.1", http.MethodGet, "/api/v1/session", nil, "Host", "other.example")
	// Caddy answers by itself, with nothing.
	if err != nil || answer.status != http.StatusMisdirectedRequest && len(answer.body) > 0 {
		t.Errorf("another name: got %v, %+v, want 421", err, answer)
	}
}

// testReaders counts readers that name other addresses in every header that software reads
// them from.
func (p *behindProxy) testReaders(t *testing.T) {
	var made struct {
		Site struct {
			ID  string
			Key string `json:"write_key"`
		}
	}
	status, err := p.Call(0, http.MethodPost, "/api/v1/sites",
		map[string]any{"name": t.Name(), "rate_hits": 100, "unique_method": "set"}, &made)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the site: %d %v", status, err)
	}
	view := []byte(`{"site":"` + made.Site.Key + `","page":"/story"}`)
	claims := [][]string{
		nil,
		{"X-Forwarded-For", "203.0.113.7"},
		{"X-Forwarded-For", "203.0.113.8, 127.0.0.1"},
		{"X-Forwarded-For", "127.0.0.1"},
		{"X-Real-IP", "203.0.113.9"},
		{"Forwarded", "for=203.0.113.10"},
		{"X-Client-IP", "203.0.113.11"},
		{"CF-Connecting-IP", "203.0.113.12"},
		{"True-Client-IP", "203.0.113.13"},
	}
	if p.hidesReaders {
		claims = claims[:1] // the docs say that others are believed
	}
	addresses := []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"} // of this machine, but not of a trusted proxy
	for _, address := range addresses {
		for _, claim := range claims {
			// An api learns about a new site within moments.
			e2etest.Eventually(t, 10*time.Second, "a view to be accepted", func() bool {
				answer, err := p.send(t, address, http.MethodPost, "/v1/view", bytes.NewReader(view), claim...)
				return err == nil && answer.status == http.StatusAccepted
			})
		}
	}
	want := len(addresses)
	if p.hidesReaders {
		want = 1
	}
	var stats struct {
		Pages []struct{ Uniques struct{ Day int } }
	}
	status, err = p.Call(0, http.MethodGet, "/api/v1/sites/"+made.Site.ID+"/pages/stats?page=/story", nil, &stats)
	if err != nil || len(stats.Pages) != 1 || stats.Pages[0].Uniques.Day != want {
		t.Errorf("readers from %d addresses: got %d %v %+v, want %d", len(addresses), status, err, stats, want)
	}
	answer, err := p.send(t, "127.0.0.2", http.MethodGet, "/livez", nil)
	said, isMissing := answer.header.Get(clientaddr.ForwardedHeader), p.hidesReaders && len(p.chain) == 1
	if err != nil || (said == clientaddr.ForwardedMissing) != isMissing || said == "" {
		t.Errorf("%s: got %q, %v; missing: want %v", clientaddr.ForwardedHeader, said, err, isMissing)
	}
}

// testUploads uploads a picture of several MB. A proxy that refuses its size does so with
// 413 and a page, which the dashboard tells from the api's own 413; smaller ones pass.
func (p *behindProxy) testUploads(t *testing.T) {
	answer := p.upload(t, pictureBytes)
	if !p.limitsBodies {
		if answer.status != http.StatusCreated {
			t.Errorf("got %+v, want 201", answer)
		}
		return
	}
	kind := answer.header.Get("Content-Type")
	if answer.status != http.StatusRequestEntityTooLarge || !strings.HasPrefix(kind, "text/html") {
		t.Errorf("a picture above the limit: got %+v, want 413 with a page", answer)
	}
	if answer := p.upload(t, defaultNginxBody/2); answer.status != http.StatusCreated {
		t.Errorf("a picture below the limit: got %+v, want 201", answer)
	}
}

// upload uploads a picture of about a size.
func (p *behindProxy) upload(t *testing.T, size int) response {
	t.Helper()
	const width = 1000
	noise := image.NewRGBA(image.Rect(0, 0, width, size/width/4)) // does not compress
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.Uint32()) //nolint:gosec // needs no secrecy
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "noise.png")
	e2etest.Must(t, err)
	e2etest.Must(t, png.Encode(part, noise))
	e2etest.Must(t, form.Close())
	answer, err := p.send(t, "127.0.0.1", http.MethodPost, "/api/v1/media", &body,
		"Authorization", "Bearer "+p.Token, "Content-Type", form.FormDataContentType())
	e2etest.Must(t, err)
	return answer
}

// testStreams reads events through the proxy: at once, and after a time without events.
func (p *behindProxy) testStreams(t *testing.T) {
	lines := make(chan string, 1000)
	opened := make(chan error, 1)
	go func() {
		r := p.request(t, http.MethodGet, "/api/v1/events", nil, "Authorization", "Bearer "+p.Token)
		answer, err := clientFrom("127.0.0.1").Do(r)
		opened <- err
		if err != nil {
			return
		}
		defer func() { _ = answer.Body.Close() }()
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	select {
	case err := <-opened:
		e2etest.Must(t, err)
		if p.buffersStreams {
			t.Fatalf("the stream opened; the docs say that it is held back")
		}
	case <-time.After(atOnce):
		if !p.buffersStreams {
			t.Fatalf("the stream has no status after %s", atOnce)
		}
		return
	}
	p.wantEvent(t, lines)
	time.Sleep(streamIdle)
	p.wantEvent(t, lines)
}

// wantEvent causes an event and waits for it.
func (p *behindProxy) wantEvent(t *testing.T, lines <-chan string) {
	t.Helper()
	var made struct{ ID string }
	status, err := p.Call(0, http.MethodPost, "/api/v1/posts",
		map[string]any{"content": t.Name(), "draft": true, "accounts": []string{p.account}}, &made)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the draft: %d %v", status, err)
	}
	for late := time.After(atOnce); ; {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatal("the stream ended")
			}
			if strings.HasPrefix(line, "data:") && strings.Contains(line, made.ID) {
				return
			}
		case <-late:
			t.Fatalf("no event within %s", atOnce)
		}
	}
}

// response is what a client gets through the proxy.
type response struct {
	status int
	header http.Header
	body   string
}

// request builds a request for the public name.
func (p *behindProxy) request(t *testing.T, method, path string, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.entry+path, body)
	e2etest.Must(t, err)
	r.Host = proxyHost
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	r.Header.Set("Accept-Language", "vi")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// send sends a request from an address of this machine.
func (p *behindProxy) send(
	t *testing.T, from, method, path string, body io.Reader, headers ...string,
) (response, error) {
	t.Helper()
	answer, err := clientFrom(from).Do(p.request(t, method, path, body, headers...))
	if err != nil {
		return response{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	return response{answer.StatusCode, answer.Header, string(raw)}, err
}

func clientFrom(address string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
}

// documented returns the settings for a proxy in docs/how-to/run-behind-a-proxy.md.
func documented(t *testing.T, proxy string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(stack.Root(t), "docs/how-to/run-behind-a-proxy.md"))
	e2etest.Must(t, err)
	_, section, _ := strings.Cut(string(page), "\n## "+proxy+"\n")
	_, block, _ := strings.Cut(section, "```")
	_, block, _ = strings.Cut(block, "\n")
	block, _, found := strings.Cut(block, "```")
	if !found || !strings.Contains(block, "127.0.0.1:8080") {
		t.Fatalf("the docs have no settings for %s with the address of the api: %q", proxy, block)
	}
	return block
}

// runProxy writes the settings of a proxy, in which {dir} is a folder for its files, and
// starts it.
func runProxy(t *testing.T, settings, command string, args ...string) {
	t.Helper()
	dir := e2etest.OpenDir(t)
	file := filepath.Join(dir, "settings")
	e2etest.Must(t, os.WriteFile(file, []byte(strings.ReplaceAll(settings, "{dir}", dir)), 0o600))
	e2etest.Run(t, dir, []string{"XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}, command, append(args, file)...)
}

func nginxWith(settings string) startProxy {
	return func(t *testing.T, listen, to string) {
		runProxy(t, fmt.Sprintf(`daemon off; master_process off; pid {dir}/pid; error_log stderr;
events {}
http {
	access_log off; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
	server { listen %s; %s }
}`, listen, strings.ReplaceAll(settings, "127.0.0.1:8080", to)), "nginx", "-e", "stderr", "-c")
	}
}

func caddyWith(settings string) startProxy {
	return func(t *testing.T, listen, to string) {
		_, port, err := net.SplitHostPort(listen)
		e2etest.Must(t, err)
		site := strings.Replace(settings, proxyHost+" {", "http://"+proxyHost+":"+port+" {", 1) // without a certificate
		runProxy(t, "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\n"+strings.ReplaceAll(site, "127.0.0.1:8080", to),
			"caddy", "run", "--adapter", "caddyfile", "--config")
	}
}

// haproxyWith uses the timeouts of Debian's haproxy.cfg; HAProxy has none by itself.
func haproxyWith(settings string) startProxy {
	return func(t *testing.T, listen, to string) {
		runProxy(t, fmt.Sprintf(`defaults
	mode http
	timeout connect 5000
	timeout client 50000
	timeout server 50000
frontend public
	bind %s
	default_backend dateline
%s`, listen, strings.ReplaceAll(settings, "127.0.0.1:8080", to)), "haproxy", "-db", "-f")
	}
}
