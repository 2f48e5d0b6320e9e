package doctor_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"dateline/internal/infra/clientaddr"
	"dateline/internal/ops/doctor"
)

func TestRun_ChecksTheLoginProvider(t *testing.T) {
	p := open(t)
	c := p.options.Config
	if slices.ContainsFunc(p.examine(), func(f doctor.Finding) bool {
		return f.Check == "login provider" ||
			f.Check == "mail server"
	}) {
		t.Error("services that are not configured were checked")
	}
	var server *httptest.Server
	path := "/realms/news"
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path+"/.well-known/openid-configuration" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w,
			`{"issuer": %q, "authorization_endpoint": "https://a.example", "jwks_uri": "https://k.example"}`,
			server.URL+path)
	}))
	defer server.Close()
	right := server.URL + path
	c.OIDCIssuer = right
	p.want("login provider", doctor.OK, right, "")
	for _, wrong := range []string{
		right + "/", right + "/.well-known/openid-configuration",
		strings.Replace(right, "127.0.0.1", "localhost", 1),
	} {
		c.OIDCIssuer = wrong
		p.want("login provider", doctor.Failure, wrong, "Set OIDC_ISSUER to "+right+" exactly")
	}
	c.OIDCIssuer = server.URL
	p.want("login provider", doctor.Failure, "404", "Check that the provider runs")
}

func TestRun_ChecksTheMailServer(t *testing.T) {
	p := open(t)
	c := p.options.Config
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	p.Must(err)
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerSMTP(conn)
		}
	}()
	c.SMTPHost, c.SMTPPort, c.SMTPEncryption = "127.0.0.1", l.Addr().(*net.TCPAddr).Port, "none"
	p.want("mail server", doctor.OK, "accepts connections", "")
	c.SMTPUsername, c.SMTPPassword = "reports", "wrong"
	p.want("mail server", doctor.Failure, "535 5.7.8 Authentication failed", "DATELINE_SMTP_PASSWORD")
	c.SMTPEncryption = "starttls"
	p.want("mail server", doctor.Failure, "STARTTLS", "DATELINE_SMTP_ENCRYPTION")
	c.SMTPPort = 1
	p.want("mail server", doctor.Failure, "connection refused", "DATELINE_SMTP_PORT")
}

// answerSMTP is a server on loopback without TLS that accepts no password.
func answerSMTP(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "220 mail.example\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		reply := map[string]string{
			"EHLO": "250-mail.example\r\n250 AUTH CRAM-MD5", "AUTH": "334 PDFAbWFpbD4=",
			"QUIT": "221 bye",
		}[strings.ToUpper(strings.Fields(lines.Text() + " x")[0])]
		if reply == "" {
			reply = "535 5.7.8 Authentication failed"
		}
		_, _ = io.WriteString(conn, reply+"\r\n")
	}
}

func TestRun_ChecksThatTheProxyForwardsAddresses(t *testing.T) {
	p := open(t)
	c := p.options.Config
	said := clientaddr.ForwardedMissing
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if said != "" {
			w.Header().Set(clientaddr.ForwardedHeader, said)
		}
	}))
	defer server.Close()
	p.options.HTTP = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
		_ string,
	) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}}}
	c.PublicURL, c.TrustedProxies = "http://dateline.example", []string{"10.0.0.1"}
	p.want("proxy", doctor.Failure, "without X-Forwarded-For", "run-behind-a-proxy.md")
	said = clientaddr.ForwardedYes
	p.want("proxy", doctor.OK, "X-Forwarded-For arrives", "")
	said = ""
	p.want("proxy", doctor.Warning, "without "+clientaddr.ForwardedHeader, "DATELINE_PUBLIC_URL")
}
