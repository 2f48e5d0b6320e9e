package fake

import (
	"net/http"
	"strings"
)

func (s *Server) blueskyRead(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.blueskyAccount(query.Get("repo"))
	if a == nil {
		xrpcError(w, http.StatusBadRequest, "InvalidRequest", "Could not find repo: "+query.Get("repo"))
		return
	}
	uri := "at://" + blueskyDID(*a) + "/" + query.Get("collection") + "/" + query.Get("rkey")
	if query.Get("collection") == "app.bsky.actor.profile" && query.Get("rkey") == "self" {
		name := strings.ToUpper(a.Name[:1]) + a.Name[1:]
		writeJSON(w, http.StatusOK, map[string]any{"uri": uri, "cid": versionOf([]byte(name)),
			"value": map[string]string{"$type": "app.bsky.actor.profile", "displayName": name}})
		return
	}
	var kept blueskyRecord
	_, known := s.object(blueskyName, "record", uri, &kept)
	if p := s.state.postByID[uri]; !known || p == nil || !s.isListed(p) {
		xrpcError(w, http.StatusBadRequest, "RecordNotFound", "Could not locate record: "+uri)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"uri": uri, "cid": kept.CID, "value": kept.Value})
}

// blueskyDelete deletes a record. Deleting a missing record is not an error.
func (s *Server) blueskyDelete(w http.ResponseWriter, r *http.Request, c caller) {
	var in struct{ Repo, Collection, Rkey string }
	if !readXRPC(w, r, &in) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blueskyAccount(in.Repo) == nil || s.blueskyAccount(in.Repo).ID != c.account.ID {
		xrpcError(w, http.StatusUnauthorized, "AuthenticationRequired", "Authentication Required")
		return
	}
	uri := "at://" + blueskyDID(c.account) + "/" + in.Collection + "/" + in.Rkey
	if p := s.state.postByID[uri]; p == nil || p.Deleted {
		writeJSON(w, http.StatusOK, map[string]any{})
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: uri}); err != nil {
		xrpcError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"commit": map[string]string{"cid": versionOf([]byte("deleted " + uri)), "rev": in.Rkey}})
}
