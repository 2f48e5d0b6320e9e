package ssrf

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestCheckAll(t *testing.T) {
	g, err := New([]string{"10.20.0.0/16", "127.0.0.1:4001", "Sandbox:4001", "[::1]:4001"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address string
		addrs   []string
		ok      bool
	}{
		{"example.org:443", []string{"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"}, true},
		{"example.org:80", []string{"93.184.215.14"}, true},
		{"example.org:8080", []string{"93.184.215.14"}, false},
		{"example.org:443", []string{"93.184.215.14", "10.0.0.1"}, false},
		{"example.org:443", []string{"93.184.215.14", "::1"}, false},
		{"example.org:443", []string{"168.63.129.16"}, false},
		{"example.org:443", []string{"::ffff:10.0.0.1"}, false},
		{"example.org:443", []string{"::ffff:168.63.129.16"}, false},
		{"example.org:443", []string{"::ffff:93.184.215.14"}, true},
		{"example.org:9000", []string{"10.20.30.40"}, true},
		{"example.org:9000", []string{"::ffff:10.20.30.40"}, true},
		{"example.org:4001", []string{"127.0.0.1"}, true},
		{"example.org:4002", []string{"127.0.0.1"}, false},
		{"sandbox:4001", []string{"192.168.0.1"}, true},
		{"SANDBOX:4001", []string{"192.168.0.1"}, true},
		{"sandbox:4002", []string{"192.168.0.1"}, false},
		{"example.org", []string{"93.184.215.14"}, false},
		{"example.org:http", []string{"93.184.215.14"}, false},
	} {
		var addrs []netip.Addr
		for _, one := range c.addrs {
			addrs = append(addrs, netip.MustParseAddr(one))
		}
		if err := g.CheckAll(c.address, addrs); (err == nil) != c.ok {
			t.Errorf("%s at %v: %v", c.address, c.addrs, err)
		}
	}
	for hostPort, want := range map[string]bool{
		"127.0.0.1:4001": true, "127.0.0.1:4002": false, "10.20.0.1:1": true,
		"sandbox:4001": true, "[::1]:4001": true, "example.org:443": false,
	} {
		if g.Trusts(hostPort) != want {
			t.Errorf("%s: trusted %v", hostPort, !want)
		}
	}
}

// The dialed address is the one that is checked, however it was resolved.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	loopback := netip.MustParseAddr("127.0.0.1")
	strict, _ := New(nil)
	if _, err := strict.DialContext(t.Context(), "tcp", l.Addr().String()); !IsBlocked(err) {
		t.Errorf("a private address: %v", err)
	}
	if _, err := strict.DialResolved(t.Context(), "tcp", "example.org:"+port, loopback); !IsBlocked(err) {
		t.Errorf("a name with a private address: %v", err)
	}
	byName, _ := New([]string{"example.org:" + port})
	conn, err := byName.DialResolved(t.Context(), "tcp", "example.org:"+port, loopback)
	if err != nil {
		t.Fatalf("a name that is listed: %v", err)
	}
	_ = conn.Close()
	if _, err := byName.DialResolved(t.Context(), "tcp", "other.example:"+port, loopback); !IsBlocked(err) {
		t.Errorf("another name with the same address: %v", err)
	}
	if conn, err := strict.DialResolved(t.Context(), "tcp", "example.org", loopback); err == nil || conn != nil {
		t.Errorf("an address without a port: got %v, %v, want an error", conn, err)
	}
	if IsBlocked(errors.New("other")) || IsBlocked(nil) {
		t.Error("other errors count as the guard's")
	}
}

func TestNew(t *testing.T) {
	for _, wrong := range []string{"", "sandbox", "sandbox:", ":4001", "10.0.0.0/99"} {
		if _, err := New([]string{wrong}); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}

func TestCheckHost_RefusesPrivateAddressesInEveryForm(t *testing.T) {
	g, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433", "017700000001",
		"0177.0.0.1", "0", "0x", "1.2.3", "127.0.0.1.", "93.184.215.14.5", "example.0x7f", "99999999999999999999999",
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.192",
		"168.63.129.16", "198.18.0.1", "224.0.0.1", "255.255.255.255", "0.0.0.0", "::1", "[::1]", "::ffff:127.0.0.1",
		"::ffff:100.64.0.1", "fe80::1%eth0", "fd00:ec2::254", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
		"localhost", "LOCALHOST.", "api.localhost",
	} {
		if err := g.CheckHost(host); err == nil {
			t.Errorf("CheckHost(%q): got no error, want one", host)
		}
	}
	for _, host := range []string{
		"hooks.example", "93.184.215.14", "::ffff:93.184.215.14",
		"2606:2800:21f:cb07:6820:80da:af6b:8b2c", "1.example", "127.0.0.1.nip.example", "0x7f.example", "100.128.0.1",
		"newsroom.de", "press.cafe", "fe",
	} {
		if err := g.CheckHost(host); err != nil {
			t.Errorf("CheckHost(%q): got %v, want no error", host, err)
		}
	}
}
