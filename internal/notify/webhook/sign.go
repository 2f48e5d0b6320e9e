package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dateline/internal/identity/secret"
)

// The headers of a delivery.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

const secretPrefix = "whsec_" //nolint:gosec // recognized by secret scanners

// newSecret creates a signing secret. The specification requires 24 to 64 random bytes.
func newSecret() secret.Text {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return secret.NewText(secretPrefix + base64.StdEncoding.EncodeToString(raw))
}

// Sign sets the headers of an attempt, with one space-separated signature per secret.
func Sign(h http.Header, secrets []secret.Text, id string, at time.Time, body string) error {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), secretPrefix))
		if err != nil {
			return fmt.Errorf("the signing secret of webhook %s is invalid", id)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(id + "." + timestamp + "." + body))
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}
