package article

import (
	"net/netip"
	"net/url"
	"strings"

	"dateline/platforms/network"
)

// FieldSite is the field of a form with the address of a site.
const FieldSite = "site"

// Sites validates the addresses of sites, which users enter.
type Sites struct {
	// PlainHTTP lists host:port of sites that can be called without TLS, in addition to
	// loopback addresses.
	PlainHTTP []string
	Sandbox   string // base URL of the fake network; empty: none
}

// Parse validates the address of a site or of its API, and returns it without a slash at its
// end. It can have a query.
func (s Sites) Parse(address string) (*url.URL, error) {
	address = strings.TrimRight(strings.TrimSpace(address), "/")
	if address != "" && !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, BadAddress()
	}
	// A password that is sent without TLS is compromised.
	if u.Scheme != "https" && (u.Scheme != "http" || !s.allowsHTTP(u)) {
		return nil, rejected(FieldSite, "bad_address", "The site's address must begin with https://.")
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// BadAddress is the error for what is no address of a site.
func BadAddress() *network.Error {
	return rejected(FieldSite, "bad_address", "Enter the site's address, for example https://news.example.")
}

func (s Sites) allowsHTTP(u *url.URL) bool {
	if sandbox, err := url.Parse(s.Sandbox); err == nil && sandbox.Host == u.Host {
		return true
	}
	for _, allowed := range s.PlainHTTP {
		if strings.EqualFold(allowed, u.Host) {
			return true
		}
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return addr.IsLoopback()
	}
	return strings.EqualFold(u.Hostname(), "localhost")
}

// HostOf returns the host of an address.
func HostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

func rejected(field, code, message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: message}
}
