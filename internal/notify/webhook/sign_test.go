package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/notify/webhook"
)

// The test vector of the specification's own libraries, see
// https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries.
func TestASignatureIsTheOneThatTheSpecificationsLibrariesMake(t *testing.T) {
	first, second := secret.NewText("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
		secret.NewText("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
	h := http.Header{}
	if err := webhook.Sign(h, []secret.Text{first, second}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 999),
		`{"test": 2432232314}`); err != nil {
		t.Fatal(err)
	}
	signatures := strings.Split(h.Get("webhook-signature"), " ")
	if len(signatures) != 2 || signatures[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" ||
		signatures[1] == signatures[0] || !strings.HasPrefix(signatures[1], "v1,") {
		t.Errorf("signed %q", signatures)
	}
	if h.Get("webhook-id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" || h.Get("webhook-timestamp") != "1614265330" {
		t.Errorf("the headers are %v", h)
	}
	if err := webhook.Sign(h, []secret.Text{secret.NewText("whsec_no base64")}, "id", time.Now(), ""); err == nil ||
		strings.Contains(err.Error(), "no base64") {
		t.Errorf("a broken secret: %v", err)
	}
}
