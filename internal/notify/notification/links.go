package notification

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/apperr"
)

// The path prefixes of the pages behind links. A token follows.
const (
	DecisionPath    = "/notifications/decide/"
	ConfirmPath     = "/notifications/confirm/"
	UnsubscribePath = "/notifications/unsubscribe/"
)

// LinkValidity is how long the links about an uncertain post are valid.
const LinkValidity = 7 * 24 * time.Hour

// The names of the values that links contain, which bind a token to its purpose.
const (
	decisionName    = "notification-decision"
	confirmName     = "notification-confirmation"
	unsubscribeName = "notification-unsubscribe"
)

// Links creates and reads the tokens of links. They are authenticated with the keyset of
// the installation, so they cannot be guessed, or made from the database.
type Links struct {
	Sealer    *secret.Sealer
	PublicURL string
}

func (l Links) address(path, name, value string) (string, error) {
	sealed, err := l.Sealer.Seal(secret.NewText(value), name)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(l.PublicURL, "/") + path + base64.RawURLEncoding.EncodeToString(sealed), nil
}

func (l Links) open(token, name string) (string, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", apperr.NotFound("link")
	}
	value, err := l.Sealer.Open(sealed, name)
	if err != nil {
		return "", apperr.NotFound("link")
	}
	return value.Reveal(), nil
}

// Decision returns the links by which the recipient of an item decides whether the post
// is published.
func (l Links) Decision(item int64) (published, absent string, err error) {
	address, err := l.address(DecisionPath, decisionName, strconv.FormatInt(item, 10))
	return address + "?choice=published", address + "?choice=absent", err
}

// Item returns the item of a token.
func (l Links) Item(token string) (int64, error) {
	value, err := l.open(token, decisionName)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// Confirm returns the link by which the recipient of a channel agrees to get emails. It
// is bound to the address, so that it does not confirm a later one.
func (l Links) Confirm(channel uuid.UUID, recipient string) (string, error) {
	return l.address(ConfirmPath, confirmName, channel.String()+" "+recipient)
}

// Confirmed returns the channel and the address of a token for confirming.
func (l Links) Confirmed(token string) (channel uuid.UUID, recipient string, err error) {
	value, err := l.open(token, confirmName)
	if err != nil {
		return uuid.Nil, "", err
	}
	id, recipient, _ := strings.Cut(value, " ")
	channel, err = uuid.Parse(id)
	return channel, recipient, err
}

// Unsubscribe returns the link that disables a channel.
func (l Links) Unsubscribe(channel uuid.UUID) (string, error) {
	return l.address(UnsubscribePath, unsubscribeName, channel.String())
}

// Channel returns the channel of a token for unsubscribing.
func (l Links) Channel(token string) (uuid.UUID, error) {
	value, err := l.open(token, unsubscribeName)
	if err != nil {
		return uuid.Nil, err
	}
	return uuid.Parse(value)
}
