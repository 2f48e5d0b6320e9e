package acceptance

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
)

// postfix is a mail server that receives mail for news.example.
type postfix struct{ port, certificate, mailboxes string }

// testPostfix sends notifications through Postfix with STARTTLS: with a certificate that
// nobody trusts, with a trusted one, and to recipients that it refuses.
func testPostfix(t *testing.T, program string) {
	p := startPostfix(t)
	s := stack.Open(t, stack.Engines{Env: []string{
		"DATELINE_SMTP_HOST=127.0.0.1", "DATELINE_SMTP_PORT=" + p.port,
		"DATELINE_EMAIL_FROM=Báo Sáng <reports@news.example>", "DATELINE_PUBLIC_URL=https://dateline.news.example",
		"DATELINE_LOG_LEVEL=info",
	}})
	makeBucket(t, s)
	s.Setup(program)
	api, untrusting := s.API("api", program), s.Worker("worker", program)

	mail := func(address string) string {
		return addChannel(t, s, map[string]any{"kind": "email", "recipient": address})
	}
	anh := mail("anh@news.example")
	wantChannelError(t, s, anh, "certificate")
	doctor := exec.Command(program, "doctor")
	doctor.Env = s.Env
	out, _ := doctor.CombinedOutput() // fails: that is what it reports
	if !strings.Contains(string(out), "mail server") || !strings.Contains(string(out), "certificate") {
		t.Errorf("dateline doctor does not name the certificate:\n%s", out)
	}

	s.Env = append(s.Env, "SSL_CERT_FILE="+p.certificate)
	untrusting.Kill()
	s.Worker("trusting worker", program)
	testChannel(t, s, anh) // an address that is not confirmed gets the link again
	confirm := p.receive(t, "anh")
	if !strings.Contains(confirm.from, "Báo Sáng") || !strings.Contains(confirm.text, "https://dateline.news.example/") {
		t.Errorf("the request to confirm: got %+v", confirm)
	}
	link := regexp.MustCompile(`https://dateline\.news\.example(/\S+)`).FindStringSubmatch(confirm.text)
	if link == nil {
		t.Fatalf("no link in %q", confirm.text)
	}
	answer, err := e2etest.Ask(t.Context(), http.MethodPost, api.At+link[1], "", nil)
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("opening the link: %v %d", err, answer.Status)
	}
	testChannel(t, s, anh)
	test := p.receive(t, "anh")
	if test.unsubscribe == "" || test.subject == "" || test.id == confirm.id {
		t.Errorf("the test: got %+v", test)
	}

	wantChannelError(t, s, mail("nobody@news.example"), "550", "5.1.1", "User unknown")
	wantChannelError(t, s, mail("editor@elsewhere.example"), "5.7.1", "Relay access denied")
	if !strings.Contains(s.Logged.String(), "User unknown") {
		t.Error("the log does not have the server's reason")
	}
}

// received is a mail as a mail program shows it.
type received struct{ from, subject, text, id, unsubscribe string }

// receive waits for a mail in a mailbox, and takes it.
func (p *postfix) receive(t *testing.T, mailbox string) received {
	t.Helper()
	var files []string
	e2etest.Eventually(t, 90*time.Second, "a mail", func() bool {
		files, _ = filepath.Glob(filepath.Join(p.mailboxes, mailbox, "new", "*"))
		return len(files) > 0
	})
	raw, err := os.ReadFile(files[0])
	e2etest.Must(t, err)
	e2etest.Must(t, os.Remove(files[0]))
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	e2etest.Must(t, err)
	decode := func(name string) string {
		text, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
		e2etest.Must(t, err)
		return text
	}
	return received{
		from: decode("From"), subject: decode("Subject"), text: plainText(t, m),
		id: m.Header.Get("Message-Id"), unsubscribe: m.Header.Get("List-Unsubscribe"),
	}
}

// plainText returns the text of a mail, or that of its first part.
func plainText(t *testing.T, m *mail.Message) string {
	t.Helper()
	body, encoding := m.Body, m.Header.Get("Content-Transfer-Encoding")
	if kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type")); err == nil &&
		strings.HasPrefix(kind, "multipart/") {
		part, err := multipart.NewReader(body, params["boundary"]).NextRawPart()
		e2etest.Must(t, err)
		body, encoding = part, part.Header.Get("Content-Transfer-Encoding")
	}
	if strings.EqualFold(encoding, "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	e2etest.Must(t, err)
	return string(text)
}

// startPostfix runs Postfix with its own folders and a self-signed certificate.
func startPostfix(t *testing.T) *postfix {
	t.Helper()
	// Its processes run as several users, who cannot enter the folders of t.TempDir.
	dir, err := os.MkdirTemp("", "postfix")
	e2etest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &postfix{
		port: e2etest.FreePort(t), certificate: filepath.Join(dir, "certificate.pem"), mailboxes: filepath.Join(dir, "mail"),
	}
	for _, name := range []string{"", "config", "queue", "data", "mail"} {
		e2etest.Must(t, os.MkdirAll(filepath.Join(dir, name), 0o750))
		e2etest.Must(t, os.Chmod(filepath.Join(dir, name), 0o755)) //nolint:gosec // see above
	}
	for name, owner := range map[string]string{"data": "postfix", "mail": "nobody"} {
		run(t, "chown", owner, filepath.Join(dir, name))
	}
	writeCertificate(t, p.certificate, filepath.Join(dir, "key.pem"))
	config := fmt.Sprintf(`compatibility_level = 3.6
queue_directory = %[1]s/queue
data_directory = %[1]s/data
maillog_file = %[1]s/log
maillog_file_prefixes = %[1]s
myhostname = mail.news.example
mydestination =
mynetworks =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_mailbox_domains = news.example
virtual_mailbox_base = %[1]s/mail
virtual_mailbox_maps = inline:{ { anh@news.example = anh/ } }
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
smtpd_relay_restrictions = reject_unauth_destination
smtpd_tls_cert_file = %[1]s/certificate.pem
smtpd_tls_key_file = %[1]s/key.pem
smtpd_tls_security_level = encrypt
`, dir)
	services := p.port + ` inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`
	e2etest.Must(t, os.WriteFile(filepath.Join(dir, "config", "main.cf"), []byte(config), 0o600))
	e2etest.Must(t, os.WriteFile(filepath.Join(dir, "config", "master.cf"), []byte(services), 0o600))
	for _, name := range []string{"main.cf", "master.cf"} {
		e2etest.Must(t, os.Chmod(filepath.Join(dir, "config", name), 0o644)) //nolint:gosec // see above
	}
	t.Cleanup(func() {
		_ = exec.Command("postfix", "-c", filepath.Join(dir, "config"), "stop").Run()
		if log, err := os.ReadFile(filepath.Join(dir, "log")); err == nil && t.Failed() {
			t.Logf("Postfix logged:\n%s", log)
		}
	})
	run(t, "postfix", "-c", filepath.Join(dir, "config"), "start")
	e2etest.Eventually(t, 30*time.Second, "Postfix to answer", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return p
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// writeCertificate writes a self-signed certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e2etest.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.news.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	e2etest.Must(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	e2etest.Must(t, err)
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw},
	} {
		e2etest.Must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
}
