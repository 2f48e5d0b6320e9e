package fake

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	slackName = "slack"
	slackBot  = "U0DATELINE"
)

// slackCall is a call of a method of the Web API. SDKs send parameters as JSON, as a form or
// in the query.
type slackCall struct {
	*http.Request
	caller

	params  map[string]any
	channel *Account // nil: none, or the bot cannot see it
}

// slackMethod responds to a call, or returns the code of its error. The caller holds s.mu.
type slackMethod func(slackCall) (map[string]any, string)

// slackNetwork fakes a workspace (https://docs.slack.dev/apis/web-api). Accounts are its channels,
// each with a bot of its own; a kind is private, archived, or outside: without the bot.
func (s slackFake) slackNetwork() *fakeNetwork {
	refuse := func(w http.ResponseWriter, status int, code string) {
		writeJSON(w, status, map[string]any{"ok": false, "error": code})
	}
	f := &fakeNetwork{
		name: slackName, prefix: "/slack", requestID: "X-Slack-Req-Id",
		isAPI: func(path string) bool { return !strings.HasPrefix(path, "/slack/archives/") },
		token: func(r *http.Request) string {
			return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer xoxb-")
		},
		refuse: func(w http.ResponseWriter, status int, _ string) {
			code, known := map[int]string{
				400: "invalid_arguments", 401: "invalid_auth", 403: "restricted_action", 404: "channel_not_found",
				422: "invalid_blocks",
			}[status]
			if known {
				status = http.StatusOK // of nearly every refusal
			}
			refuse(w, status, cmp.Or(code, "internal_error"))
		},
		expired: func(w http.ResponseWriter) { refuse(w, http.StatusOK, "token_expired") },
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
			refuse(w, http.StatusTooManyRequests, "ratelimited")
		},
	}
	f.routes = func(mux *http.ServeMux) {
		// With the scope that a method needs; * is that of the kind of channel.
		for method, serve := range map[string]slackMethod{
			"auth.test":                                s.slackAuth,
			"conversations.info *:read":                s.slackInfo,
			"conversations.list channels:read":         s.slackChannels,
			"conversations.history *:history":          s.slackList,
			"conversations.replies *:history":          s.slackList,
			"chat.postMessage chat:write":              s.slackPost,
			"chat.delete chat:write":                   s.slackDelete,
			"files.getUploadURLExternal files:write":   s.slackUploadURL,
			"files.completeUploadExternal files:write": s.slackComplete,
			"files.info files:read":                    s.slackFile,
		} {
			name, scope, _ := strings.Cut(method, " ")
			mux.HandleFunc("/slack/api/"+name, s.authenticatedFor(f,
				func(w http.ResponseWriter, r *http.Request, c caller) { s.slackServe(w, r, c, scope, serve) }, name))
		}
		mux.HandleFunc("POST /slack/upload/v1/{id}", s.slackUpload)
		mux.HandleFunc("GET /slack/archives/{channel}/{message}", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		})
	}
	return f
}

func (c slackCall) text(name string) string {
	text, _ := c.params[name].(string)
	return text
}

// decode reads a value, which in a form is JSON in a string.
func (c slackCall) decode(name string, into any) bool {
	raw, isText := c.params[name].(string)
	if !isText {
		encoded, _ := json.Marshal(c.params[name])
		raw = string(encoded)
	}
	return json.Unmarshal([]byte(raw), into) == nil
}

func (c slackCall) flag(name string, usual bool) bool {
	switch fmt.Sprint(c.params[name]) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	return usual
}

func (s slackFake) slackServe(w http.ResponseWriter, r *http.Request, who caller, scope string, serve slackMethod) {
	c := slackCall{Request: r, caller: who, params: map[string]any{}}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<20)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		_ = json.NewDecoder(r.Body).Decode(&c.params) // without a body, the call lacks its arguments
	} else if r.ParseForm() == nil {
		for name := range r.Form {
			c.params[name] = r.Form.Get(name)
		}
	}
	granted := slices.DeleteFunc([]string{
		"chat:write", "files:read", "files:write", "channels:read", "channels:history", "groups:read", "groups:history",
	}, func(name string) bool { return slices.Contains(who.denied, name) })
	w.Header().Set("X-OAuth-Scopes", strings.Join(granted, ","))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.slackVisible(who) {
		if slackChannelID(*a) == c.text("channel") {
			c.channel = a
		}
	}
	kind := "channels"
	if c.channel != nil && c.channel.Kind == "private" {
		kind = "groups"
	}
	needed := strings.Replace(scope, "*", kind, 1)
	response := map[string]any{"ok": false}
	switch {
	case needed != "" && !slices.Contains(granted, needed):
		response["error"], response["needed"] = "missing_scope", needed
	case c.channel == nil && (scope != needed || scope == "chat:write"):
		response["error"] = "channel_not_found"
	default:
		made, problem := serve(c)
		code, detail, isDetailed := strings.Cut(problem, ": ")
		if response["error"] = code; isDetailed {
			response["errors"] = []string{detail}
		}
		if problem == "" {
			response = made
			response["ok"] = true
		}
	}
	writeJSON(w, http.StatusOK, response)
}

func (s slackFake) slackAuth(c slackCall) (map[string]any, string) {
	return map[string]any{
		"url": s.slackSite(c.Request), "team": "Sandbox", "user": "dateline", "team_id": "T0SANDBOX",
		"user_id": slackBot, "bot_id": "B0DATELINE", "is_enterprise_install": false,
	}, ""
}

func (s slackFake) slackSite(r *http.Request) string { return s.networkNamed(slackName).root(r) + "/" }

func slackChannelID(a Account) string { return "C0SANDBOX" + a.ID }

// slackVisible are the channels that a bot can see. The caller must hold s.mu.
func (s slackFake) slackVisible(c caller) []*Account {
	return slices.DeleteFunc(slices.Clone(s.state.accountOrder), func(a *Account) bool {
		return a.network() != slackName || a.Kind == "private" && a.ID != c.account.ID
	})
}

// isSlackMember reports whether the bot is a member of a channel, which is its own.
func isSlackMember(c caller, a Account) bool { return a.ID == c.account.ID && a.Kind != "outside" }

func slackConversation(c caller, a Account) map[string]any {
	return map[string]any{
		"id": slackChannelID(a), "name": a.Name, "name_normalized": a.Name, "is_channel": true,
		"is_private": a.Kind == "private", "is_archived": a.Kind == "archived", "is_member": isSlackMember(c, a),
	}
}

func (s slackFake) slackInfo(c slackCall) (map[string]any, string) {
	return map[string]any{"channel": slackConversation(c.caller, *c.channel)}, ""
}

// slackChannels lists 20 channels a page, so that clients have to follow the cursor.
func (s slackFake) slackChannels(c slackCall) (map[string]any, string) {
	list := []any{}
	for _, a := range s.slackVisible(c.caller) {
		if a.Kind != "private" || strings.Contains(c.text("types"), "private_channel") {
			list = append(list, slackConversation(c.caller, *a))
		}
	}
	page, cursor := c.page(list, 20)
	return map[string]any{"channels": page, "response_metadata": cursor}, ""
}

func (s slackFake) slackUploadURL(c slackCall) (map[string]any, string) {
	length, _ := strconv.ParseInt(c.text("length"), 10, 64)
	switch {
	case length < 1 || c.text("filename") == "":
		return nil, "invalid_arguments"
	case len([]rune(c.text("alt_txt"))) > 1000:
		return nil, "alt_txt_too_large"
	}
	id := "F" + s.state.nextID(s.now())
	m := Media{ID: id, AccountID: c.account.ID, Description: c.text("alt_txt"), Bytes: length}
	if s.commit(record{Kind: kindMedia, Media: &m}) != nil {
		return nil, "internal_error"
	}
	return map[string]any{"file_id": m.ID, "upload_url": s.slackSite(c.Request) + "upload/v1/" + m.ID}, ""
}

// slackUpload stores the bytes.
func (s slackFake) slackUpload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	m := s.state.media[r.PathValue("id")]
	s.mu.Unlock()
	if m == nil {
		http.NotFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, m.Bytes+4096)
	var source io.Reader = r.Body
	if parts, err := r.MultipartReader(); err == nil { // as Slack's SDK for Node sends it
		if source, err = parts.NextPart(); err != nil {
			source = http.NoBody
		}
	}
	body := bufio.NewReader(source)
	head, _ := body.Peek(512)
	stored := *m
	stored.MIMEType = http.DetectContentType(head)
	n, err := s.saveMedia(m.ID, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || n != m.Bytes || s.commit(record{Kind: kindMedia, Media: &stored}) != nil {
		http.Error(w, "bad upload", http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, "OK - "+strconv.FormatInt(n, 10))
}

// slackComplete makes uploads files, which nobody but the bot can see, and begins to scan them.
func (s slackFake) slackComplete(c slackCall) (map[string]any, string) {
	var files []struct{ ID, Title string }
	if !c.decode("files", &files) || len(files) == 0 {
		return nil, "invalid_arguments"
	}
	list := []any{}
	for _, file := range files {
		found := s.state.media[file.ID]
		if found == nil || found.AccountID != c.account.ID || found.MIMEType == "" {
			return nil, "file_not_found"
		}
		m := *found
		m.ExpiresAt = s.now().AddDate(100, 0, 0) // Slack keeps files
		s.scheduleMedia(c.Request, &m)
		if s.commit(record{Kind: kindMedia, Media: &m}) != nil {
			return nil, "internal_error"
		}
		list = append(list, map[string]any{"id": file.ID, "title": file.Title, "mimetype": "", "filetype": ""})
	}
	return map[string]any{"files": list}, ""
}

// slackFile describes a file. Its type is empty until Slack has scanned it.
func (s slackFake) slackFile(c slackCall) (map[string]any, string) {
	m := s.state.media[c.text("file")]
	switch {
	case m == nil || m.AccountID != c.account.ID || m.ReadyAt.IsZero():
		return nil, "file_not_found"
	case !s.now().Before(m.ExpiresAt):
		return nil, "file_deleted"
	}
	kind := m.MIMEType
	switch {
	case s.now().Before(m.ReadyAt):
		kind = ""
	case m.Failed:
		kind = "application/octet-stream"
	}
	file := map[string]any{"id": m.ID, "mimetype": kind, "size": m.Bytes, "alt_txt": m.Description}
	return map[string]any{"file": file}, ""
}
