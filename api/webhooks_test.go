package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
)

const webhooksPath = "/api/v1/webhooks"

func (s *server) webhook(change ...object) (w spec.WebhookWithSecret) {
	s.t.Helper()
	o := object{"url": "https://hooks.example/dateline"}
	for _, c := range change {
		for k, v := range c {
			o[k] = v
		}
	}
	s.decode(s.send("POST", webhooksPath, o), 201, &w)
	return w
}

func TestWebhooks_ShowTheSecretOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.send("POST", webhooksPath, object{
		"url": "https://Hooks.example/dateline", "description": "Bot", "types": []string{
			"post.posted", "post.failed", "post.posted",
		},
	})
	var made spec.WebhookWithSecret
	s.decode(a, 201, &made)
	require.Equal(t, webhooksPath+"/"+made.Webhook.Id.String(), a.Header.Get("Location"))
	require.True(t, strings.HasPrefix(made.Secret, "whsec_"))
	require.Equal(t, "https://hooks.example/dateline", made.Webhook.Url)
	require.Equal(t, "[post.failed post.posted]", fmt.Sprint(made.Webhook.Types))
	require.Equal(t, spec.WebhookStatus("enabled"), made.Webhook.Status)
	path := webhooksPath + "/" + made.Webhook.Id.String()
	for _, read := range []answer{
		s.send("GET", path, nil), s.send("GET", webhooksPath, nil),
		s.send("PATCH", path, object{"description": "Other"}),
	} {
		if read.StatusCode != http.StatusOK || strings.Contains(string(read.body), made.Secret) ||
			!strings.Contains(string(read.body), made.Webhook.Id.String()) {
			t.Errorf("%s: %s", read.Status, read.body)
		}
	}
	var rotated spec.WebhookWithSecret
	s.decode(s.send("POST", path+"/rotate-secret", nil), 200, &rotated)
	if rotated.Secret == made.Secret || !strings.HasPrefix(rotated.Secret, "whsec_") {
		t.Error("the secret was not rotated")
	}
	if n := s.Count("select count(*) from webhook_secrets where position(convert_to($1, 'UTF8') in secret) > 0",
		rotated.Secret); n != 0 {
		t.Error("the secret is stored in plain text")
	}
}

func TestWebhooks_CreateIsIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := object{"url": "https://hooks.example/dateline"}
	first, again := s.send("POST", webhooksPath, body, "Idempotency-Key", "k"), s.send("POST", webhooksPath, body,
		"Idempotency-Key", "k")
	if again.StatusCode != http.StatusCreated || string(first.body) != string(again.body) ||
		again.Header.Get("Idempotent-Replayed") != "true" || first.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%s and %s", first.body, again.body)
	}
	s.refused(s.send("POST", webhooksPath, object{"url": "https://hooks.example/other"}, "Idempotency-Key", "k"), 422,
		"idempotency_key_reused", "Idempotency-Key")
	var list spec.WebhookList
	s.decode(s.send("GET", webhooksPath, nil), 200, &list)
	if len(list.Webhooks) != 1 {
		t.Errorf("%+v", list)
	}
	s.send("DELETE", webhooksPath+"/"+list.Webhooks[0].Id.String(), nil)
	s.refused(s.send("POST", webhooksPath, body, "Idempotency-Key", "k"), 404, "webhook_not_found")
}

func TestWebhooks_EditAndDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := webhooksPath + "/" + s.webhook().Webhook.Id.String()
	var w spec.Webhook
	s.decode(s.send("PATCH", path, object{"status": "disabled", "types": []string{"post.late"}}), 200, &w)
	if w.Status != "disabled" || w.DisabledReason == nil || *w.DisabledReason != "owner" || len(w.Types) != 1 {
		t.Errorf("disabled: %+v", w)
	}
	s.refused(s.send("POST", path+"/test", nil), 409, "webhook_disabled")
	s.refused(s.send("POST", path+"/redeliver-dead", nil), 409, "webhook_disabled")
	w = spec.Webhook{}
	s.decode(s.send("PATCH", path, object{"status": "enabled", "types": []string{}}), 200, &w)
	if w.Status != "enabled" || w.DisabledReason != nil || len(w.Types) != 0 {
		t.Errorf("enabled: %+v", w)
	}
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("deleted: %s", a.Status)
	}
	for _, a := range []answer{
		s.send("GET", path, nil), s.send("DELETE", path, nil),
		s.send("PATCH", path, object{"status": "enabled"}), s.send("POST", path+"/test", nil),
		s.send("POST", path+"/rotate-secret", nil), s.send("GET", path+"/deliveries", nil),
		s.send("POST", path+"/redeliver-dead", nil),
	} {
		s.refused(a, 404, "webhook_not_found")
	}
}

func TestWebhooks_ListAndRedeliver(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := webhooksPath + "/" + s.webhook().Webhook.Id.String()
	var made []spec.WebhookDelivery
	for range 5 {
		var d spec.WebhookDelivery
		s.decode(s.send("POST", path+"/test", nil), 202, &d)
		if d.Type != "webhook.test" || d.Status != "pending" || d.NextAttemptAt == nil || d.Payload.Type != d.Type {
			t.Errorf("made %+v", d)
		}
		made = append(made, d)
	}
	s.Exec("update webhook_deliveries set status = 'dead', attempts = 10, retries = 10, last_error = "+
		"jsonb_build_object('code', 'webhook_responded', 'message', 'The endpoint responded with 500.'), "+
		"response_status = 500, attempted_at = now() where id in ($1, $2)", made[1].Id, made[3].Id)
	var seen []uuid.UUID
	for cursor := ""; ; {
		var page spec.WebhookDeliveryPage
		s.decode(s.send("GET", path+"/deliveries?limit=2"+cursor, nil), 200, &page)
		for _, d := range page.Deliveries {
			seen = append(seen, d.Id)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(seen) != 5 || seen[0] != made[4].Id || seen[4] != made[0].Id {
		t.Errorf("the pages hold %v", seen)
	}
	var dead spec.WebhookDeliveryPage
	s.decode(s.send("GET", path+"/deliveries?status=dead", nil), 200, &dead)
	if len(dead.Deliveries) != 2 || dead.Deliveries[0].Attempts != 10 || *dead.Deliveries[0].ResponseStatus != 500 ||
		dead.Deliveries[0].NextAttemptAt != nil {
		t.Errorf("dead deliveries: %+v", dead)
	}
	var again spec.WebhookDelivery
	s.decode(s.send("POST", path+"/deliveries/"+made[1].Id.String()+"/redeliver", nil), 202, &again)
	if again.Status != "pending" || again.NextAttemptAt == nil || again.Attempts != 10 {
		t.Errorf("redelivered: %+v", again)
	}
	var count struct{ Redelivered int }
	s.decode(s.send("POST", path+"/redeliver-dead", nil), 202, &count)
	if count.Redelivered != 1 {
		t.Errorf("%d dead deliveries are redelivered", count.Redelivered)
	}
	s.refused(s.send("POST", path+"/deliveries/"+uuid.NewString()+"/redeliver", nil), 404, "delivery_not_found")
	s.refused(s.send("GET", path+"/deliveries?status=lost", nil), 400, "invalid_request", "status")
}

func TestWebhooks_RequirePublicHTTPS(t *testing.T) {
	t.Parallel()
	s := start(t)
	for address, code := range map[string]string{
		"http://hooks.example/": "not_https", "https://10.0.0.1/": "private",
		"https://localhost/": "private", "https://[::1]/": "private",
		"https://hooks.example:8443/": "port", "ftp://hooks.example/": "not_https", "hooks.example": "invalid",
		"https://me:pw@hooks.example/": "invalid",
		"https://hooks.example/#x":     "invalid", "https://": "invalid", "https://169.254.169.254/": "private",
		"https://100.64.0.1/": "private", "https://[::ffff:10.0.0.1]/": "private", "https://api.localhost/": "private",
		"https://127.1/": "invalid", "https://0x7f.1/": "invalid", "https://0x7f000001/": "invalid",
		"https://2130706433/": "invalid", "https://0177.0.0.1/": "invalid", "https://127.0.0.1./": "private",
		"javascript:alert(1)": "invalid",
	} {
		a := s.send("POST", webhooksPath, object{"url": address})
		s.refused(a, 422, "invalid_request", "url")
		if !strings.Contains(string(a.body), `"`+code+`"`) {
			t.Errorf("%s: %s", address, a.body)
		}
	}
	s.webhook(object{"url": "http://127.0.0.1:4000/hook"}) // the operator allows this private address
	s.refused(s.send("POST", webhooksPath, object{"url": "https://hooks.example/", "types": []string{"post.burnt"}}),
		400, "invalid_request", "types[0]")
	for range 19 {
		s.webhook()
	}
	s.refused(s.send("POST", webhooksPath, object{"url": "https://hooks.example/"}), 409, "too_many_webhooks")
}

func TestWebhooks_AreIsolated(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := webhooksPath + "/" + s.webhook().Webhook.Id.String()
	_, _, token := s.Found("Elsewhere")
	other := []string{"Authorization", "Bearer " + token}
	for _, a := range []answer{
		s.send("GET", path, nil, other...), s.send("DELETE", path, nil, other...),
		s.send("POST", path+"/test", nil, other...),
		s.send("POST", path+"/rotate-secret", nil, other...), s.send("GET", path+"/deliveries", nil, other...),
	} {
		s.refused(a, 404, "webhook_not_found")
	}
	author := []string{"Authorization", "Bearer " + s.Member(workspace.Author)}
	s.refused(s.send("POST", webhooksPath, object{"url": "https://hooks.example/"}, author...), 403,
		"role_insufficient")
	s.refused(s.send("DELETE", path, nil, author...), 403, "role_insufficient")
}
