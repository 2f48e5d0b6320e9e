package fake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
)

// linkedinCommentBody is the body of a comment.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/comments-api
type linkedinCommentBody struct {
	Actor   string `json:"actor"`
	Object  string `json:"object"`
	Message struct {
		Text       string `json:"text"`
		Attributes []any  `json:"attributes"`
	} `json:"message"`
	Content []struct {
		Entity struct {
			Image string `json:"image"`
		} `json:"entity"`
	} `json:"content"`
	Parent string `json:"parentComment"`
}

// linkedinComment creates a comment on a post. Its text is plain.
func (s linkedinFake) linkedinComment(w http.ResponseWriter, r *http.Request, c caller) {
	received := s.now()
	var b linkedinCommentBody
	if !readLinkedIn(w, r, &b) {
		return
	}
	actor, refused := s.linkedinAuthor(w, b.Actor, c)
	if refused {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := s.linkedinFind(r.PathValue("urn"))
	length := len(utf16.Encode([]rune(b.Message.Text)))
	switch {
	case parent == nil || parent.Deleted:
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	case length > 1250:
		refuseLinkedIn(w, http.StatusBadRequest, "FIELD_LENGTH_TOO_LONG",
			"The length of the message is %d, more than 1250", length)
		return
	case strings.TrimSpace(b.Message.Text) == "" && len(b.Content) == 0, len(b.Content) > 1:
		refuseLinkedIn(w, http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "A comment needs text or one image")
		return
	}
	post := Post{
		Network: "linkedin", AccountID: actor.ID, Account: actor.Name, Text: b.Message.Text, ReplyTo: parent.ID,
		Visibility: parent.Visibility, ReceivedAt: received,
	}
	for _, one := range b.Content {
		if _, refused := s.linkedinAttach(w, &post, []linkedinMedia{{ID: one.Entity.Image}}); refused {
			return
		}
	}
	id := s.linkedinNumber(r)
	activity := linkedinActivity(parent)
	post.ID = fmt.Sprintf("urn:li:comment:(%s,%s)", activity, id)
	post.URL = fmt.Sprintf("%s%s/feed/update/%s?commentUrn=urn%%3Ali%%3Acomment%%3A%%28%s%%2C%s%%29", base(r),
		linkedinPrefix, activity,
		strings.ReplaceAll(strings.TrimPrefix(activity, "urn:li:"), ":", "%3A"), id)
	if err := s.storePost(r, &post); err != nil {
		refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
		return
	}
	w.Header().Set("X-Restli-Id", id)
	writeJSON(w, http.StatusCreated, linkedinCommentEntity(&post, actor))
}

func linkedinActivity(p *Post) string {
	number := p.ID[strings.LastIndexByte(p.ID, ':')+1:]
	n, _ := strconv.ParseInt(number, 10, 64)
	return "urn:li:activity:" + strconv.FormatInt(n|1, 10)
}

func linkedinCommentEntity(p *Post, actor Account) map[string]any {
	thread, id, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p.ID, "urn:li:comment:("), ")"), ",")
	entity := map[string]any{
		"$URN": p.ID, "id": id, "object": thread, "actor": linkedinURNOf(actor), "agent": linkedinURNOf(actor),
		"message":      map[string]any{"text": p.listedText(), "attributes": []any{}},
		"created":      map[string]any{"actor": linkedinURNOf(actor), "time": p.CreatedAt.UnixMilli()},
		"lastModified": map[string]any{"actor": linkedinURNOf(actor), "time": p.CreatedAt.UnixMilli()},
	}
	var content []map[string]any
	for _, m := range p.Media {
		content = append(content, map[string]any{
			"type": "IMAGE", "entity": map[string]any{"image": "urn:li:image:" + m.ID},
		})
	}
	if content != nil {
		entity["content"] = content
	}
	return entity
}

// linkedinComments lists the comments on a post, oldest first. Apps cannot list
// those of members.
func (s linkedinFake) linkedinComments(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := s.linkedinFind(r.PathValue("urn"))
	if parent == nil || parent.Deleted {
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	}
	if author := s.state.accounts[parent.AccountID]; author.OwnerID != c.account.ID ||
		!c.allowed("r_organization_social") {
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: socialActions.comments.GET_ALL.20260701")
		return
	}
	elements := []map[string]any{}
	for _, p := range s.state.posts {
		if p.ReplyTo == parent.ID && s.isListed(p) {
			elements = append(elements, linkedinCommentEntity(p, *s.state.accounts[p.AccountID]))
		}
	}
	start, _ := strconv.Atoi(r.URL.Query().Get("start"))
	count, _ := strconv.Atoi(r.URL.Query().Get("count"))
	if count < 1 || count > 100 {
		count = 10
	}
	elements = elements[min(max(start, 0), len(elements)):]
	linkedinList(w, start, count, elements[:min(count, len(elements))])
}

func (s linkedinFake) linkedinDeleteComment(w http.ResponseWriter, r *http.Request, c caller) {
	if _, refused := s.linkedinAuthor(w, r.URL.Query().Get("actor"), c); refused {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.state.postByID["urn:li:comment:("+r.PathValue("urn")+","+r.PathValue("id")+")"]
	if p == nil || p.Deleted {
		refuseLinkedIn(w, http.StatusNotFound, "NOT_FOUND", "Could not find entity")
		return
	}
	if err := s.commit(record{Kind: kindDelete, ID: p.ID}); err != nil {
		refuseLinkedIn(w, http.StatusInternalServerError, "", "%v", err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
