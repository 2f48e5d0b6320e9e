package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"dateline/api/spec"
)

func TestSnippets_AreStoredAndChecked(t *testing.T) {
	s := start(t)
	var one spec.Snippet
	s.decode(s.send("POST", "/api/v1/snippets", object{"kind": "hashtags", "name": "Bão", "text": "#bão #thờitiết"}),
		201, &one)
	s.refused(s.send("POST", "/api/v1/snippets", object{"kind": "hashtags", "name": "BãO", "text": "#bão"}), 422,
		"invalid_request", "name")
	s.refused(s.send("POST", "/api/v1/snippets", object{"kind": "hashtags", "name": "Words", "text": "bão #x"}), 422,
		"invalid_request", "text")
	s.refused(s.send("POST", "/api/v1/snippets", object{"name": "Empty", "text": " \n"}), 422, "invalid_request",
		"text")
	s.decode(s.send("PATCH", "/api/v1/snippets/"+one.Id.String(), object{"text": "#bão"}), 200, &one)
	s.decode(s.send("POST", "/api/v1/snippets", object{"name": "Bão", "text": "Cập nhật:"}), 201, new(spec.Snippet))
	var list struct{ Snippets []spec.Snippet }
	s.decode(s.send("GET", "/api/v1/snippets", nil), 200, &list)
	if len(list.Snippets) != 2 || list.Snippets[0].Text != "#bão" || list.Snippets[1].Kind != spec.SnippetKindText {
		t.Errorf("got %+v, want the hashtags and the text", list.Snippets)
	}
	if got := s.send("DELETE", "/api/v1/snippets/"+one.Id.String(), nil); got.StatusCode != http.StatusNoContent {
		t.Errorf("deleting: got %s, want 204", got.Status)
	}
	if got := s.send("DELETE", "/api/v1/snippets/"+one.Id.String(), nil); got.StatusCode != http.StatusNotFound {
		t.Errorf("deleting again: got %s, want 404", got.Status)
	}
}

func TestSnippets_TemplatesKeepOptionsAndAccounts(t *testing.T) {
	s := start(t)
	desk := s.Connect("desk").ID.String()
	template := object{
		"accounts": []string{desk}, "options": object{"mastodon": object{"visibility": "unlisted"}},
		"track_links": true,
		"thread":      []object{{"content": "Nguồn:", "after_minutes": 5}},
		"overrides":   object{desk: object{"content": "Cho Mastodon"}}, "utm": object{"campaign": "sáng"},
	}
	var one spec.Snippet
	s.decode(s.send("POST", "/api/v1/snippets",
		object{"kind": "template", "name": "Bản tin sáng", "text": "Chào buổi sáng", "template": template}), 201, &one)
	var list struct{ Snippets []spec.Snippet }
	s.decode(s.send("GET", "/api/v1/snippets", nil), 200, &list)
	want, err := json.Marshal(template)
	s.Must(err)
	got, err := json.Marshal(list.Snippets[0].Template)
	s.Must(err)
	if compact(t, got) != compact(t, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	s.decode(s.send("PATCH", "/api/v1/snippets/"+one.Id.String(), object{"name": "Bản tin tối"}), 200, &one)
	if one.Template == nil || one.Template.Accounts == nil {
		t.Errorf("after renaming: got %+v, want the template unchanged", one.Template)
	}
	s.refused(s.send("POST", "/api/v1/snippets", object{"name": "Text", "text": "x", "template": template}), 422,
		"invalid_request", "template")
	s.refused(s.send("POST", "/api/v1/snippets", object{
		"kind": "template", "name": "Other", "text": "x",
		"template": object{"options": object{"mastodon": object{"colour": "red"}}},
	}), 400, "invalid_request",
		"template.options.mastodon.colour")
}
