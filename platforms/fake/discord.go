package fake

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	discordGuild = "1000000000000000001"
	// discordNonceTTL is "the past few minutes" of the documentation.
	discordNonceTTL = 3 * time.Minute
)

// discordNetwork fakes version 10 of the API
// (https://docs.discord.com/developers/reference). An account is a channel, and
// its token is the token of both a bot and a webhook.
func (s discordFake) discordNetwork() *fakeNetwork {
	f := &fakeNetwork{
		name:   "discord",
		prefix: "/discord",
		isAPI:  func(path string) bool { return strings.HasPrefix(path, "/discord/api/") },
		token: func(r *http.Request) string {
			if bot, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bot "); ok {
				return bot
			}
			parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/discord/api/v10/webhooks/"), "/")
			if len(parts) > 1 {
				return parts[1]
			}
			return ""
		},
		refuse: func(w http.ResponseWriter, status int, text string) {
			code, message := discordStatusMessage(status)
			if text != "" {
				message = text
			}
			writeJSON(w, status, map[string]any{"message": message, "code": code})
		},
		writeRateHeaders: func(h http.Header, rate Rate, left int, reset time.Time) {
			h.Set("X-RateLimit-Limit", strconv.Itoa(rate.Requests))
			h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
			h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(reset.UnixMilli())/1000, 'f', 3, 64))
			h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(time.Until(reset).Seconds(), 'f', 3, 64))
			h.Set("X-RateLimit-Bucket", "abcd1234")
			h.Set("X-RateLimit-Scope", "user")
		},
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
			writeJSON(w, http.StatusTooManyRequests, map[string]any{
				"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": false,
			})
		},
	}
	f.expired = func(w http.ResponseWriter) { f.refuse(w, http.StatusUnauthorized, "") }
	f.routes = func(mux *http.ServeMux) {
		handle := func(pattern string, next func(http.ResponseWriter, *http.Request, *fakeNetwork, caller),
			buckets ...string,
		) {
			method, path, _ := strings.Cut(pattern, " ")
			mux.HandleFunc(method+" /discord/api/v10"+path,
				s.authenticatedFor(f, func(w http.ResponseWriter, r *http.Request, c caller) { next(w, r, f, c) },
					buckets...))
		}
		handle("GET /users/@me", func(w http.ResponseWriter, _ *http.Request, _ *fakeNetwork, c caller) {
			writeJSON(w, http.StatusOK, map[string]any{"id": discordBot(c), "username": c.account.Name, "bot": true})
		})
		handle("GET /channels/{channel}", s.discordChannel)
		handle("GET /channels/{channel}/messages", s.discordList)
		handle("POST /channels/{channel}/messages", s.discordCreate, "messages")
		handle("DELETE /channels/{channel}/messages/{id}", s.discordDelete)
		handle("GET /webhooks/{hook}/{token}", func(w http.ResponseWriter, r *http.Request, _ *fakeNetwork, c caller) {
			writeJSON(w, http.StatusOK, map[string]any{
				"id": r.PathValue("hook"), "type": 1, "name": c.account.Name,
				"channel_id": c.account.ID, "guild_id": discordGuild, "token": r.PathValue("token"),
			})
		})
		handle("POST /webhooks/{hook}/{token}", s.discordCreate, "messages")
		handle("DELETE /webhooks/{hook}/{token}/messages/{id}", s.discordDelete)
		handle("POST /channels/{channel}/threads", s.discordOpenThread, "messages")
		handle("GET /guilds/{guild}/threads/active", s.discordActive)
		handle("GET /channels/{channel}/messages/{id}", s.discordRead)
		handle("DELETE /channels/{channel}", s.discordDeleteThread)
	}
	return f
}

// discordBot returns the user id of a channel's bot.
func discordBot(c caller) string { return "9" + c.account.ID }

func discordStatusMessage(status int) (code int, message string) {
	switch status {
	case http.StatusBadRequest:
		return 50035, "Invalid Form Body"
	case http.StatusUnauthorized:
		return 0, "401: Unauthorized"
	case http.StatusForbidden:
		return 50013, "Missing Permissions"
	case http.StatusNotFound:
		return 10015, "Unknown Webhook"
	default:
		return 0, strconv.Itoa(status) + ": " + http.StatusText(status)
	}
}

func (s discordFake) discordChannel(w http.ResponseWriter, r *http.Request, _ *fakeNetwork, c caller) {
	if !discordHere(w, r, c) {
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": c.account.ID, "type": 0, "guild_id": discordGuild, "name": c.account.Name,
	})
}

// discordHere reports whether the requested channel is the bot's.
func discordHere(w http.ResponseWriter, r *http.Request, c caller) bool {
	if channel := r.PathValue("channel"); channel != "" && channel != c.account.ID {
		writeJSON(w, http.StatusForbidden, map[string]any{"message": "Missing Access", "code": 50001})
		return false
	}
	return true
}

type discordMessage struct {
	discordOptions
	Name        string          `json:"name"`    // of a thread
	Message     *discordMessage `json:"message"` // the first one of a thread
	Content     string          `json:"content"`
	Attachments []struct {
		ID          int    `json:"id"`
		Filename    string `json:"filename"`
		Description string `json:"description"`
	} `json:"attachments"`
	Nonce        string `json:"nonce"`
	EnforceNonce bool   `json:"enforce_nonce"`
	Reference    *struct {
		MessageID       string `json:"message_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

func (s discordFake) discordCreate(w http.ResponseWriter, r *http.Request, f *fakeNetwork, c caller) {
	if !discordHere(w, r, c) {
		return
	}
	in, files, ok := s.discordBody(w, r, c)
	in.Content = strings.TrimSpace(in.Content)
	switch {
	case !ok, utf8.RuneCountInString(in.Content) > 2000, len(files) > 10, len(in.Nonce) > 25:
		f.refuse(w, http.StatusBadRequest, "")
		return
	case in.Content == "" && len(files) == 0:
		writeJSON(w, http.StatusBadRequest, map[string]any{"message": "Cannot send an empty message", "code": 50006})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.EnforceNonce && in.Nonce != "" {
		if k, known := s.state.keys[c.account.ID+"\x00"+in.Nonce]; known && s.now().Before(k.Expires) &&
			s.commit(record{Kind: kindRepeat, ID: k.PostID}) == nil {
			writeJSON(w, http.StatusOK, s.discordEntity(*s.state.postByID[k.PostID], c))
			return
		}
	}
	post := Post{
		Network: "discord", AccountID: c.account.ID, Account: c.account.Name, Text: in.Content, Media: files,
		ReceivedAt: s.now(),
		Visibility: "public", IdempotencyKey: in.Nonce, ID: s.discordID(conditionsOf(r).skew),
	}
	if in.Reference != nil {
		post.ReplyTo = in.Reference.MessageID
		if parent := s.state.postByID[post.ReplyTo]; parent == nil || parent.Deleted {
			f.refuse(w, http.StatusBadRequest, "")
			return
		}
	}
	if in.ThreadName != "" {
		thread, ok := s.discordStoreThread(r, c, in, files)
		if !ok {
			f.refuse(w, http.StatusBadRequest, "")
			return
		}
		writeJSON(w, http.StatusOK, s.discordThreadMessage(thread, c))
		return
	}
	if post.Options, ok = in.received(); !ok {
		f.refuse(w, http.StatusBadRequest, "")
		return
	}
	post.URL = "https://discord.com/channels/" + discordGuild + "/" + c.account.ID + "/" + post.ID
	err := s.storePost(r, &post)
	if err == nil && in.Nonce != "" {
		err = s.commit(record{Kind: kindKey, Key: &key{
			AccountID: c.account.ID, Key: in.Nonce, PostID: post.ID, Expires: s.now().Add(discordNonceTTL),
		}})
	}
	switch {
	case err != nil:
		f.refuse(w, http.StatusInternalServerError, "")
	case strings.Contains(r.URL.Path, "/webhooks/") && r.URL.Query().Get("wait") != "true":
		w.WriteHeader(http.StatusNoContent)
	default:
		writeJSON(w, http.StatusOK, s.discordEntity(post, c))
	}
}

// discordID returns a unique snowflake by the network's clock.
func (s discordFake) discordID(skew time.Duration) string {
	ms := uint64(s.now().Add(skew).UnixMilli() - 1420070400000) //nolint:gosec // after 2015
	for id := ms << 22; ; id++ {
		if text := strconv.FormatUint(id, 10); s.state.postByID[text] == nil &&
			s.state.postByID[discordThread+text] == nil {
			return text
		}
	}
}

// discordBody decodes JSON, or a form with files.
func (s discordFake) discordBody(
	w http.ResponseWriter, r *http.Request, c caller,
) (in discordMessage, files []Media, ok bool) {
	r.Body = http.MaxBytesReader(w, r.Body, 26<<20)
	files = []Media{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return in, files, json.NewDecoder(r.Body).Decode(&in) == nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return in, nil, false
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return in, nil, false
		}
		if part.FormName() == "payload_json" {
			if json.NewDecoder(part).Decode(&in) != nil {
				return in, nil, false
			}
			continue
		}
		file, err := s.savePart(part, c)
		if err != nil || file.Bytes > 10<<20 {
			return in, nil, false
		}
		files = append(files, file)
	}
	for _, a := range in.Attachments {
		if a.ID < 0 || a.ID >= len(files) || utf8.RuneCountInString(a.Description) > 1024 {
			return in, nil, false
		}
		files[a.ID].Description = a.Description
	}
	return in, files, true
}

func (s discordFake) discordEntity(p Post, c caller) map[string]any {
	attachments := []map[string]any{}
	for _, m := range p.Media {
		attachments = append(attachments, map[string]any{
			"id": m.ID, "size": m.Bytes, "content_type": m.MIMEType, "description": m.Description,
		})
	}
	entity := map[string]any{
		"id": p.ID, "channel_id": c.account.ID, "content": p.listedText(),
		"timestamp":   p.CreatedAt.Format("2006-01-02T15:04:05.000000-07:00"),
		"attachments": attachments, "author": map[string]any{"id": discordBot(c), "bot": true}, "type": 0,
	}
	if p.ReplyTo != "" {
		entity["message_reference"] = map[string]any{
			"message_id": p.ReplyTo, "channel_id": c.account.ID, "guild_id": discordGuild,
		}
	}
	return entity
}

// discordList returns the oldest messages after an id, newest first.
func (s discordFake) discordList(w http.ResponseWriter, r *http.Request, f *fakeNetwork, c caller) {
	if !discordHere(w, r, c) {
		return
	}
	after, limit := discordQuery(r.URL.Query())
	if limit < 1 || limit > 100 {
		f.refuse(w, http.StatusBadRequest, "")
		return
	}
	if conditionsOf(r).ignoreSince {
		after = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Post
	for _, p := range s.state.byAccount[c.account.ID] {
		if id, err := strconv.ParseUint(p.ID, 10, 64); err == nil && id > after && s.isListed(p) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Post) int { // by id, also if the clock was changed meanwhile
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	list := []map[string]any{}
	for _, p := range slices.Backward(found[:min(limit, len(found))]) {
		list = append(list, s.discordCounted(r, p, s.discordEntity(*p, c)))
	}
	writeJSON(w, http.StatusOK, list)
}

func discordQuery(q url.Values) (after uint64, limit int) {
	after, _ = strconv.ParseUint(q.Get("after"), 10, 64)
	limit = 50
	if text := q.Get("limit"); text != "" {
		limit, _ = strconv.Atoi(text)
	}
	return after, limit
}

func (s discordFake) discordDelete(w http.ResponseWriter, r *http.Request, _ *fakeNetwork, c caller) {
	if !discordHere(w, r, c) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[r.PathValue("id")]
	if p == nil || p.Deleted || p.AccountID != c.account.ID || s.commit(record{Kind: kindDelete, ID: p.ID}) != nil {
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "Unknown Message", "code": 10008})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
