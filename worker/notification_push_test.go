package worker

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/notify/notification"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/post"
)

const pushPath = "/push/subscription-1"

// subscription is that of a browser.
type subscription struct {
	private *ecdh.PrivateKey
	auth    []byte
}

func newSubscription(t *testing.T) *subscription {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &subscription{private: private, auth: make([]byte, 16)}
	_, _ = rand.Read(s.auth)
	return s
}

func (s *subscription) keys() *notification.PushKeys {
	return &notification.PushKeys{
		P256dh: base64.RawURLEncoding.EncodeToString(s.private.PublicKey().Bytes()),
		Auth:   base64.RawURLEncoding.EncodeToString(s.auth),
	}
}

// decrypt decrypts a message of one record as a browser does: RFC 8291, 3.4 and RFC 8188,
// 2.1.
func (s *subscription) decrypt(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("the message is too short")
	}
	salt, sender, text := body[:16], body[21:21+int(body[20])], body[21+int(body[20]):]
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := s.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(s.private.PublicKey().Bytes()) + string(sender)
	input, err := hkdf.Key(sha256.New, shared, s.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, text, nil)
	if err != nil {
		return nil, err
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00"))
	if len(plain) == 0 || plain[len(plain)-1] != 2 { // the delimiter of the last record
		return nil, errors.New("the padding is wrong")
	}
	return plain[:len(plain)-1], nil
}

// push is a push service: it checks what RFC 8030 and RFC 8292 require, and keeps the
// message as the browser decrypts it.
func (s *services) push(w http.ResponseWriter, r *http.Request, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	if err := checkVAPID(r.Header.Get("Authorization"), s.URL); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodPost || r.Header.Get("TTL") == "" || r.Header.Get("Content-Encoding") != "aes128gcm" ||
		len(raw) > 4096 {
		http.Error(w, "bad headers", http.StatusBadRequest)
		return
	}
	plain, err := s.browser.decrypt(raw)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var message struct{ ID string }
	_ = json.Unmarshal(plain, &message)
	s.got[notification.Browser] = append(s.got[notification.Browser], string(plain))
	s.ids[notification.Browser] = append(s.ids[notification.Browser], message.ID)
	w.WriteHeader(http.StatusCreated)
}

// checkVAPID checks the signature, audience, subject and expiry of a request.
func checkVAPID(header, origin string) error {
	fields, ok := strings.CutPrefix(header, "vapid t=")
	token, key, found := strings.Cut(fields, ", k=")
	parts := strings.Split(token, ".")
	if !ok || !found || len(parts) != 3 {
		return errors.New("no vapid header: " + header)
	}
	public, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(public) != 65 {
		return errors.New("the key is no point")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return errors.New("the signature is too short")
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	point, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return err
	}
	if !ecdsa.Verify(point, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is wrong")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		return err
	}
	if left := time.Until(time.Unix(claims.Exp, 0)); claims.Aud != origin || left <= 0 || left > 24*time.Hour ||
		claims.Sub != "https://dateline.example" {
		return errors.New("wrong claims: " + string(text))
	}
	return nil
}

// A push has the text and the links for decisions; only its browser can read it.
func TestPush_ShowsWhatToDecide(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	c := n.channel(notification.Browser, nil)
	p := n.publish(post.TargetUncertain)
	n.dispatch(1)
	step := n.attempt()
	if got := n.all(notification.Browser); !step.Done || len(got) != 1 {
		t.Fatalf("got %+v and %q, want one message: %+v", step, got, n.notifications(c))
	}
	var got struct {
		ID, Title, Body, URL string
		Actions              []struct{ Title, URL string }
	}
	n.Must(json.Unmarshal([]byte(n.all(notification.Browser)[0]), &got))
	if !strings.HasPrefix(got.Title, "Check whether it was published") ||
		!strings.Contains(got.Body, "Embargoed until noon") || got.URL != "https://dateline.example/app/posts/"+
		p.ID.String() ||
		len(got.Actions) != 2 ||
		!strings.HasPrefix(got.Actions[0].URL, "https://dateline.example/notifications/decide/") ||
		!strings.HasSuffix(got.Actions[1].URL, "?choice=absent") {
		t.Errorf("got %+v", got)
	}
	if c.Hint == "" || strings.Contains(c.Hint, "subscription-1") {
		t.Errorf("the hint is %q, want the host of the push service only", c.Hint)
	}
	// The key pair stays the same: browsers have subscribed with it.
	first, err := n.manager.PushKey(t.Context())
	n.Must(err)
	again, err := (&notification.Push{Store: n.Store.Notify.Notifications, Sealer: n.Sealer}).PublicKey(t.Context())
	if err != nil || again != first || n.Count("select count(*) from push_keys") != 1 {
		t.Errorf("got the keys %q and %q, %v; want one", first, again, err)
	}
}

// A browser that has unsubscribed disables its channel.
func TestPush_RemovedSubscriptionDisablesTheChannel(t *testing.T) {
	t.Parallel()
	n := newNotified(t)
	n.Connect("desk")
	n.channel(notification.Browser, nil)
	n.respond(http.StatusGone)
	n.publish(post.TargetFailed)
	n.dispatch(1)
	if step := n.attempt(); !step.Done {
		t.Errorf("got %+v, want it to be done", step)
	}
	if rows := n.Count("select count(*) from notification_channels where disabled_reason = 'gone'"); rows != 1 {
		t.Errorf("got %d disabled channels, want 1", rows)
	}
}

// attempt attempts the only delivery.
func (n *notified) attempt() webhook.Step {
	n.t.Helper()
	var step webhook.Step
	n.eachDelivery(func(s webhook.Step) { step = s })
	return step
}
