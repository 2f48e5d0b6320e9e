package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dateline/api/spec"
	"dateline/internal/audience/subscription"
	"dateline/internal/storage/postgres"
)

func subscriptions(store *postgres.Store) *subscription.Service {
	return &subscription.Service{Store: store.Audience.Subscriptions, CanSendEmail: true}
}

func TestSubscriptions_AreManagedAndEndedByTheirRecipients(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site()
	path := "/api/v1/sites/" + w.ID.String() + "/subscriptions"
	var made spec.Subscription
	s.decode(s.send("POST", path, object{"kind": "weekly", "email": "editor@news.example", "language": "vi"}), 201,
		&made)
	if made.Kind != "weekly" || made.Email != "editor@news.example" || made.Language != "vi" || made.LastEmail != nil {
		t.Errorf("got %+v", made)
	}
	s.refused(s.send("POST", path, object{"kind": "weekly", "email": "Editor@news.example"}), 409, "already_subscribed")
	for _, wrong := range []string{
		"nobody", "a@b.example, c@d.example", "A <a@b.example>",
		"a@b.example\r\nBcc: x@y.example",
	} {
		s.refused(s.send("POST", path, object{"kind": "weekly", "email": wrong}), 422, "invalid_request", "email")
	}
	s.Must(s.Store.Audience.Subscriptions.AddEmail(t.Context(), subscription.Email{
		ID: someID(), WorkspaceID: w.WorkspaceID, SubscriptionID: made.Id, To: made.Email,
	}))
	one := path + "/" + made.Id.String()
	s.refused(s.send("POST", one+"/resend", nil), 404, "dead_email_not_found")
	s.Exec("update emails set status = 'dead', last_error = 'no such user'")
	var list struct{ Subscriptions []spec.Subscription }
	s.decode(s.send("GET", path, nil), 200, &list)
	if len(list.Subscriptions) != 1 || list.Subscriptions[0].LastEmail == nil ||
		list.Subscriptions[0].LastEmail.Status != "dead" || *list.Subscriptions[0].LastEmail.Error != "no such user" {
		t.Errorf("the list shows %+v", list)
	}
	if a := s.send("POST", one+"/resend", nil); a.StatusCode != http.StatusNoContent ||
		s.Count("select count(*) from emails where status = 'pending'") != 1 {
		t.Errorf("resend: %s %s", a.Status, a.body)
	}

	// A mail filter that opens the link changes nothing.
	stored, err := s.Store.Audience.Subscriptions.Subscriptions(t.Context(), w.WorkspaceID, w.ID)
	s.Must(err)
	token := stored[0].Token
	if got, text := (&browser{s: s}).open("/unsubscribe/"+token, nil); got.StatusCode != http.StatusOK ||
		!strings.Contains(text, "editor@news.example") || s.Count("select count(*) from report_subscriptions") != 1 {
		t.Errorf("the page: %s %s", got.Status, text)
	}
	for range 2 {
		if got, text := (&browser{s: s}).open("/unsubscribe/"+token,
			url.Values{"List-Unsubscribe": {"One-Click"}}); got.StatusCode != http.StatusOK {
			t.Errorf("unsubscribe: %s %s", got.Status, text)
		}
	}
	if n := s.Count("select count(*) from report_subscriptions") + s.Count("select count(*) from emails"); n != 0 {
		t.Errorf("%d rows remain", n)
	}

	rule := "/api/v1/sites/" + w.ID.String() + "/alert-rule"
	var got spec.AlertRule
	s.decode(s.send("GET", rule, nil), 200, &got)
	if got.Enabled || got.SpikeFactor != 3 {
		t.Errorf("the default rule is %+v", got)
	}
	s.decode(s.send("PUT", rule, object{"enabled": true, "spike_factor": 5, "drop_share": 0.2, "min_views": 50}), 200,
		&got)
	s.decode(s.send("GET", rule, nil), 200, &got)
	if !got.Enabled || got.SpikeFactor != 5 || got.DropShare != 0.2 || got.MinViews != 50 {
		t.Errorf("the rule is %+v", got)
	}
	s.refused(s.send("PUT", rule, object{"enabled": true, "spike_factor": 1, "drop_share": 0.2, "min_views": 50}), 400,
		"invalid_request", "spike_factor")
}
