package graph

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/network"
)

// CodeNotFetchable says that the network cannot get at an attachment's bytes.
const CodeNotFetchable = "not_fetchable"

// FetchURL gives the address at which a network can fetch an attachment for
// a while. In the sandbox the network is on this machine and reaches any.
func FetchURL(ctx context.Context, name string, account network.Account, media network.Media, life time.Duration) (string, error) {
	if media.URL == nil {
		return "", NotFetchableError(name, media, "it has no address on the internet")
	}
	address, err := media.URL(ctx, life)
	if err != nil {
		return "", &network.Error{Class: network.NotSent, Code: "media_unreadable",
			Message: fmt.Sprintf("No address could be made for the attachment %s.", media.FileName), Err: err}
	}
	if u, err := url.Parse(address); account.BaseURL == "" && (err != nil || isPrivateHost(u.Hostname())) {
		return "", NotFetchableError(name, media, "its address is on a private network")
	}
	return address, nil
}

// NotFetchableError is the problem of an attachment that the network cannot reach.
func NotFetchableError(name string, media network.Media, why string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: CodeNotFetchable, Field: "attachments", Message: fmt.Sprintf(
		"%s fetches attachments itself and cannot reach %s: %s. The operator has to set S3_PUBLIC_ENDPOINT to an address of the object store that can be reached from the internet.",
		name, media.FileName, why)}
}

// isPrivateHost knows the hosts that nobody outside reaches.
func isPrivateHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	}
	host = strings.ToLower(host)
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal") || !strings.Contains(host, ".")
}
