package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// PostgresPort starts an empty Postgres for the test on a port of loopback and returns its
// URL, for programs that do not support sockets.
func PostgresPort(t testing.TB) string {
	t.Helper()
	return startOnPort(t, clusterDir(t))
}

// SecurePostgres starts a Postgres for the test that listens on loopback with TLS. It
// returns the URL, without sslmode, and the file with its certificate, which expires at
// the given time.
func SecurePostgres(t testing.TB, ends time.Time) (address, certificate string) {
	t.Helper()
	dir := clusterDir(t)
	certificate, key := selfSigned(t, dir, ends)
	return startOnPort(t, dir, "-c", "ssl=on", "-c", "ssl_cert_file="+certificate, "-c", "ssl_key_file="+key),
		certificate
}

func clusterDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", clusterPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func startOnPort(t testing.TB, dir string, options ...string) (address string) {
	t.Helper()
	NeedEngines(t)
	bin, err := postgresPrograms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	c := &cluster{dir: dir, admin: &url.URL{
		Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort("127.0.0.1", port), Path: "/postgres",
	}}
	t.Cleanup(func() {
		if c.own != nil {
			c.own.stop(syscall.SIGQUIT)
		}
	})
	if err := c.start(t.Context(), bin, append([]string{
		"-c", "listen_addresses=127.0.0.1", "-c", "port=" + port,
	}, options...)...); err != nil {
		t.Fatal(err)
	}
	return c.admin.String()
}

// selfSigned writes a certificate for this machine, and its key readable for the
// server's user only.
func selfSigned(t testing.TB, dir string, ends time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: raw},
		key:         {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if owner := unprivileged(); owner != nil {
			if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return certificate, key
}
