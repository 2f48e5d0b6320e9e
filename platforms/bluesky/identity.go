package bluesky

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// identity is an account's DID and its server.
type identity struct {
	did    string
	server string
}

// isDID reports whether a text is a DID of a method that the protocol supports.
// https://atproto.com/specs/did
func isDID(text string) bool {
	id, plc := strings.CutPrefix(text, "did:plc:")
	if !plc {
		var web bool
		if id, web = strings.CutPrefix(text, "did:web:"); !web {
			return false
		}
	}
	return id != "" && len(text) <= 2048 && !strings.ContainsFunc(id, func(r rune) bool {
		return !isAlnum(r) && !strings.ContainsRune(".-_%", r)
	})
}

// resolveIdentity finds an account's DID by its handle, and its server by its
// DID. The DID document must name the handle in turn: otherwise a server that
// lies about whose a handle is would receive the password.
func (b *Bluesky) resolveIdentity(ctx context.Context, name string) (identity, error) {
	if !isDID(name) && !isHandle(name) {
		return identity{}, formError(fieldHandle, "bad_handle", "A handle looks like desk.bsky.social or news.example.")
	}
	did := name
	if !isDID(name) {
		var err error
		if did, err = b.resolve(ctx, name); err != nil {
			return identity{}, err
		}
	}
	document, err := b.document(ctx, did)
	if err != nil {
		return identity{}, err
	}
	if name != did && !slices.ContainsFunc(document.AlsoKnownAs,
		func(known string) bool { return strings.EqualFold(known, "at://"+name) }) {
		return identity{}, formError(fieldHandle, "handle_not_confirmed",
			"The name "+name+" resolves to an account that does not name this handle. Check the handle in "+
				"Bluesky's settings.")
	}
	for _, service := range document.Service {
		if strings.HasSuffix(service.ID, "#atproto_pds") && service.Type == "AtprotoPersonalDataServer" {
			var endpoint string
			_ = json.Unmarshal(service.Endpoint, &endpoint) // anything but text is not an address
			server, err := b.base(endpoint)
			return identity{did: did, server: server}, err
		}
	}
	return identity{}, formError(fieldHandle, "no_server", "The account "+name+" has no server.")
}

// resolve finds the DID of a handle: on its own web site, otherwise through the
// entryway, which also queries DNS.
// https://atproto.com/specs/handle#handle-resolution
func (b *Bluesky) resolve(ctx context.Context, name string) (string, error) {
	res, err := b.calls.Do(ctx,
		call.Request{
			Method: http.MethodGet, URL: "https://" + name + "/.well-known/atproto-did",
			Timeout: b.options.EnrichTimeout, MaxBody: 4 << 10, Header: http.Header{"Accept": {"text/plain"}},
		})
	if err == nil && res.OK() {
		if did := strings.TrimSpace(string(res.Body)); isDID(did) {
			return did, nil
		}
	}
	did, err := b.resolveAt(ctx, b.options.Entryway, name, call.Request{})
	if err == nil {
		return did, nil
	}
	if e := network.AsError(err); e.Class == network.Rejected && e.Status != 0 {
		return "", formError(fieldHandle, "unknown_handle", "There is no account with the handle "+name+".")
	}
	return "", err
}

// resolveAt reads a handle's DID from a server
// (com.atproto.identity.resolveHandle).
func (b *Bluesky) resolveAt(ctx context.Context, server, name string, request call.Request) (string, error) {
	res, err := b.do(ctx, server, "com.atproto.identity.resolveHandle", url.Values{"handle": {name}}, request)
	if err != nil {
		return "", err
	}
	var body struct {
		DID string `json:"did"`
	}
	if err := res.Decode(&body); err != nil {
		return "", err
	}
	if !isDID(body.DID) {
		return "", res.MalformedError("it contains no DID")
	}
	return body.DID, nil
}

// didDocument contains the used fields of a DID document.
// https://atproto.com/specs/did#did-documents
type didDocument struct {
	ID          string   `json:"id"`
	AlsoKnownAs []string `json:"alsoKnownAs"`
	Service     []struct {
		ID       string          `json:"id"`
		Type     string          `json:"type"`
		Endpoint json.RawMessage `json:"serviceEndpoint"` // may be a map for other services
	} `json:"service"`
}

// document reads a DID document, from the directory or from the web site that the
// DID names.
func (b *Bluesky) document(ctx context.Context, did string) (didDocument, error) {
	address := strings.TrimSuffix(b.options.Directory, "/") + "/" + did
	if host, web := strings.CutPrefix(did, "did:web:"); web {
		if !isHandle(host) {
			return didDocument{}, formError(fieldHandle, "bad_identity",
				"The account's DID "+did+" cannot be resolved.")
		}
		address = "https://" + host + "/.well-known/did.json"
	}
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodGet, URL: address, Timeout: b.options.ReadTimeout, MaxBody: 256 << 10,
	})
	if err != nil {
		return didDocument{}, err
	}
	if !res.OK() {
		e := res.StatusError("", "The account's DID "+did+" could not be resolved.")
		e.Field = fieldHandle
		return didDocument{}, e
	}
	var document didDocument
	if err := res.Decode(&document); err != nil {
		return didDocument{}, err
	}
	if document.ID != did {
		return didDocument{}, res.MalformedError("it is about another DID")
	}
	return document, nil
}
