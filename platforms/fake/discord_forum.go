package fake

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// discordOptions are the options of a message, and of a new thread.
type discordOptions struct {
	Embeds []struct {
		Title       string            `json:"title,omitempty"`
		Description string            `json:"description,omitempty"`
		URL         string            `json:"url,omitempty"`
		Color       int               `json:"color,omitempty"`
		Image       map[string]string `json:"image,omitempty"`
		Footer      map[string]string `json:"footer,omitempty"`
	} `json:"embeds"`
	Flags       int      `json:"flags"`
	ThreadName  string   `json:"thread_name"` // of a webhook
	AppliedTags []string `json:"applied_tags"`
}

// received are the options under Discord's names; false: they are not valid.
func (o discordOptions) received() (map[string]any, bool) {
	options := map[string]any{}
	total := 0
	for _, e := range o.Embeds {
		total += utf8.RuneCountInString(e.Title + e.Description + e.Footer["text"])
		if utf8.RuneCountInString(e.Title) > 256 || utf8.RuneCountInString(e.Description) > 4096 {
			return nil, false
		}
	}
	if len(o.Embeds) > 10 || total > 6000 || len(o.AppliedTags) > 5 || utf8.RuneCountInString(o.ThreadName) > 100 {
		return nil, false
	}
	if len(o.Embeds) > 0 {
		options["embeds"] = o.Embeds
	}
	if o.Flags != 0 {
		options["flags"] = o.Flags
	}
	if o.ThreadName != "" {
		options["name"], options["applied_tags"] = o.ThreadName, o.AppliedTags
	}
	return options, true
}

// discordThread is the prefix of the ids of forum posts.
const discordThread = "thread/"

// discordOpenThread creates a post in a forum channel. It has no nonce: a second
// request creates a second thread.
// https://docs.discord.com/developers/resources/channel#start-thread-in-forum-or-media-channel
func (s discordFake) discordOpenThread(w http.ResponseWriter, r *http.Request, f *fakeNetwork, c caller) {
	if !discordHere(w, r, c) {
		return
	}
	in, files, ok := s.discordBody(w, r, c)
	if !ok || in.Name == "" || in.Message == nil {
		f.refuse(w, http.StatusBadRequest, "")
		return
	}
	first := *in.Message
	first.ThreadName, first.AppliedTags, first.Attachments = in.Name, in.AppliedTags, in.Attachments
	s.mu.Lock()
	defer s.mu.Unlock()
	post, ok := s.discordStoreThread(r, c, first, files)
	if !ok {
		f.refuse(w, http.StatusBadRequest, "")
		return
	}
	entity := s.discordThreadEntity(post, c)
	entity["message"] = s.discordThreadMessage(post, c)
	writeJSON(w, http.StatusCreated, entity)
}

// discordStoreThread stores a forum post. The caller must hold s.mu.
func (s discordFake) discordStoreThread(r *http.Request, c caller, in discordMessage, files []Media) (Post, bool) {
	options, ok := in.received()
	if text := strings.TrimSpace(in.Content); !ok || utf8.RuneCountInString(text) > 2000 || text == "" &&
		len(files) == 0 {
		return Post{}, false
	}
	id := s.discordID(conditionsOf(r).skew)
	post := Post{
		Network: "discord", AccountID: c.account.ID, Account: c.account.Name,
		Text: strings.TrimSpace(in.Content), Media: files, ReceivedAt: s.now(),
		Visibility: "public", Options: options, ID: discordThread + id, URL: "https://discord.com/channels/" +
			discordGuild + "/" + id + "/" + id,
	}
	return post, s.storePost(r, &post) == nil
}

func (s discordFake) discordThreadEntity(p Post, c caller) map[string]any {
	return map[string]any{
		"id": strings.TrimPrefix(p.ID, discordThread), "type": 11, "parent_id": c.account.ID,
		"owner_id": discordBot(c), "guild_id": discordGuild, "name": p.Options["name"],
	}
}

func (s discordFake) discordThreadMessage(p Post, c caller) map[string]any {
	entity := s.discordEntity(p, c)
	id := strings.TrimPrefix(p.ID, discordThread)
	entity["id"], entity["channel_id"] = id, id
	return entity
}

// discordActive lists the active threads of the server.
// https://docs.discord.com/developers/resources/guild#list-active-guild-threads
func (s discordFake) discordActive(w http.ResponseWriter, _ *http.Request, _ *fakeNetwork, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	threads := []map[string]any{}
	for _, p := range slices.Backward(s.state.byAccount[c.account.ID]) {
		if strings.HasPrefix(p.ID, discordThread) && s.isListed(p) {
			threads = append(threads, s.discordThreadEntity(*p, c))
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"threads": threads, "members": []any{}})
}

// discordRead reads the first message of a thread.
func (s discordFake) discordRead(w http.ResponseWriter, r *http.Request, _ *fakeNetwork, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[discordThread+r.PathValue("id")]
	if p == nil || p.AccountID != c.account.ID || !s.isListed(p) || r.PathValue("channel") != r.PathValue("id") {
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "Unknown Message", "code": 10008})
		return
	}
	writeJSON(w, http.StatusOK, s.discordCounted(r, p, s.discordThreadMessage(*p, c)))
}

// discordDeleteThread deletes a thread.
func (s discordFake) discordDeleteThread(w http.ResponseWriter, r *http.Request, _ *fakeNetwork, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID[discordThread+r.PathValue("channel")]
	if p == nil || p.Deleted || p.AccountID != c.account.ID || s.commit(record{Kind: kindDelete, ID: p.ID}) != nil {
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "Unknown Channel", "code": 10003})
		return
	}
	writeJSON(w, http.StatusOK, s.discordThreadEntity(*p, c))
}
