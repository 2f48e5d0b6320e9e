package account_test

import (
	"context"
	"errors"
	"testing"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/testing/newsroomtest"
)

// pictures returns an image for each address, and counts requests.
type pictures struct {
	of       map[string]string
	requests int
}

func (p *pictures) Image(_ context.Context, address string, _ int) ([]byte, error) {
	p.requests++
	if image, ok := p.of[address]; ok {
		return []byte(image), nil
	}
	return nil, errors.New("unreachable")
}

func TestAvatars_AreCopiedOnceAndSurviveTheirAddress(t *testing.T) {
	t.Parallel()
	n := newsroomtest.Open(t)
	desk := n.Connect("desk")
	if desk.AvatarURL == "" {
		t.Fatal("the connected account has no address of a picture")
	}
	web := &pictures{of: map[string]string{desk.AvatarURL: "first"}}
	avatars := &account.Avatars{Store: n.Store.Publishing.Accounts, Images: web}
	want := func(when, image string, requests int) {
		t.Helper()
		got, err := avatars.Get(t.Context(), n.Owner, desk.ID)
		if string(got) != image || (err != nil) != (image == "") || web.requests != requests {
			t.Errorf("%s: got %q (%v) after %d requests, want %q after %d", when, got, err, web.requests, image,
				requests)
		}
	}
	want("at first", "first", 1)
	want("again", "first", 1)

	// The network reports another address, which cannot be fetched yet.
	n.Exec("update accounts set avatar_url = 'https://new.example/a' where id = $1", desk.ID)
	n.Exec("update account_avatars set fetched_at = fetched_at - interval '2 hours'")
	want("while the new one cannot be fetched", "first", 2)
	want("within the hour", "first", 2)
	web.of["https://new.example/a"] = "second"
	n.Exec("update account_avatars set fetched_at = fetched_at - interval '2 hours'")
	want("when it can", "second", 3)

	other := n.Connect("sports")
	if _, err := avatars.Get(t.Context(), n.Owner, other.ID); !isNotFound(err) {
		t.Errorf("a picture that cannot be fetched: got %v, want not found", err)
	}
	stranger := workspace.Principal{WorkspaceID: other.ID}
	if _, err := avatars.Get(t.Context(), stranger, desk.ID); !isNotFound(err) {
		t.Errorf("another workspace: got %v, want not found", err)
	}
}

func isNotFound(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindNotFound
}
