package store_test

import (
	"testing"
	"time"

	"dateline/internal/people"
)

func TestATokenIsKeptAsItsHashOnly(t *testing.T) {
	n := open(t)
	var leaks int
	n.query(&leaks, "select count(*) from api_tokens t where t::text like '%' || $1 || '%'", n.token[7:])
	if leaks != 0 {
		t.Error("the token stands in its row")
	}
	who, found, err := n.Bearer(t.Context(), people.HashToken(n.token))
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if who.WorkspaceID != n.workspace.ID || who.UserID != n.user || who.Role != people.Owner {
		t.Errorf("the bearer is %+v", who)
	}
	if _, found, err := n.Bearer(t.Context(), people.HashToken(n.token+"x")); found || err != nil {
		t.Errorf("another token was found (%v)", err)
	}
}

func TestARevokedOrExpiredTokenIsUnknown(t *testing.T) {
	n := open(t)
	known := func(plain string) bool {
		t.Helper()
		_, found, err := n.Bearer(t.Context(), people.HashToken(plain))
		n.must(err)
		return found
	}
	replacement, plain := people.NewToken(n.workspace.ID, n.user, "cli")
	n.must(n.ReplaceToken(t.Context(), replacement))
	if known(n.token) || !known(plain) {
		t.Errorf("old %v, new %v", known(n.token), known(plain))
	}
	other, otherPlain := people.NewToken(n.workspace.ID, n.user, "other")
	n.must(n.ReplaceToken(t.Context(), other))
	if !known(plain) {
		t.Error("a token of another name was revoked")
	}
	n.exec("update api_tokens set expires_at = now() + interval '1 hour' where id = $1", other.ID)
	if !known(otherPlain) {
		t.Error("a token is unknown before it expires")
	}
	n.exec("update api_tokens set expires_at = now() - interval '1 second' where id = $1", other.ID)
	if known(otherPlain) {
		t.Error("an expired token is known")
	}
}

func TestATokenEndsWithTheMembership(t *testing.T) {
	n := open(t)
	n.exec("delete from members where user_id = $1", n.user)
	if _, found, err := n.Bearer(t.Context(), people.HashToken(n.token)); found || err != nil {
		t.Errorf("known after the membership ended (%v)", err)
	}
}

func TestTheUseOfATokenIsNotedAtMostOnceAMinute(t *testing.T) {
	n := open(t)
	used := func() (at time.Time) {
		t.Helper()
		_, _, err := n.Bearer(t.Context(), people.HashToken(n.token))
		n.must(err)
		n.query(&at, "select last_used_at from api_tokens")
		return at
	}
	first := used()
	if second := used(); !second.Equal(first) {
		t.Errorf("noted at %s and at %s", first, second)
	}
	n.exec("update api_tokens set last_used_at = now() - interval '2 minutes'")
	if third := used(); third.Before(first) {
		t.Errorf("still noted at %s", third)
	}
}

func TestTheFirstWorkspaceIsTheOldest(t *testing.T) {
	n := open(t)
	n.found("Later")
	w, owner, found, err := n.FirstWorkspace(t.Context())
	if err != nil || !found || w != n.workspace || owner != n.user {
		t.Errorf("%+v %s %v %v", w, owner, found, err)
	}
	if got, err := n.Workspace(t.Context(), w.ID); err != nil || got != w {
		t.Errorf("%+v %v", got, err)
	}
}
