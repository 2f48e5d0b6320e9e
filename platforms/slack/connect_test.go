package slack_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// channelID is the id of a channel of the fake.
func channelID(a fake.Account) string { return "C0SANDBOX" + a.ID }

func TestConnectForm_FindsTheChannel(t *testing.T) {
	f := newFixture(t, fake.Options{})
	for i := range 45 { // on other pages of the list
		platformtest.AddAccount(t, f.fake, fake.Account{Network: "slack", Name: fmt.Sprintf("kenh-%d", i)})
	}
	privateOne := platformtest.AddAccount(t, f.fake, fake.Account{Network: "slack", Name: "mat", Kind: "private"})
	accents := platformtest.AddAccount(t, f.fake, fake.Account{Network: "slack", Name: "bản-tin"})
	own := map[string]string{"bot_token": "xoxb-" + privateOne.Token}
	for name, row := range map[string]struct {
		values map[string]string
		want   fake.Account
	}{
		"Name": {map[string]string{"channel": "ban-tin"}, f.there},
		"Hash": {map[string]string{"channel": " #Ban-Tin "}, f.there},
		"ID":   {map[string]string{"channel": channelID(f.there)}, f.there},
		"Link": {map[string]string{"channel": "https://sandbox.slack.com/archives/" + channelID(f.there)}, f.there},
		"AddressBar": {
			map[string]string{"channel": "https://app.slack.com/client/T0SANDBOX/" + channelID(f.there)}, f.there,
		},
		"Decomposed": {
			map[string]string{"bot_token": "xoxb-" + accents.Token, "channel": norm.NFD.String("#Bản-tin")}, accents,
		},
		"Message":     {map[string]string{"channel": "https://a.slack.com/archives/" + channelID(f.there) + "/p17"}, f.there},
		"PrivateName": {map[string]string{"bot_token": own["bot_token"], "channel": "mat"}, privateOne},
		"PrivateID":   {map[string]string{"bot_token": own["bot_token"], "channel": channelID(privateOne)}, privateOne},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := f.form(t, row.values)
			if err != nil || len(found) != 1 || found[0].RemoteID != channelID(row.want) ||
				found[0].Handle != "#"+row.want.Name || len(found[0].Scopes) < 5 {
				t.Errorf("got %+v and %v, want the channel %s", found, err, row.want.Name)
			}
		})
	}
}

func TestConnectForm_NamesWhatIsMissing(t *testing.T) {
	f := newFixture(t, fake.Options{})
	other := platformtest.AddAccount(t, f.fake, fake.Account{Network: "slack", Name: "khac"})
	add := func(kind string) map[string]string {
		a := platformtest.AddAccount(t, f.fake, fake.Account{Network: "slack", Name: "kenh-" + kind, Kind: kind})
		return map[string]string{"bot_token": "xoxb-" + a.Token, "channel": channelID(a)}
	}
	private, archived, outside := add("private"), add("archived"), add("outside")
	for name, row := range map[string]struct {
		values      map[string]string
		denied      string // scope
		field, code string
		message     string
	}{
		"NoToken":       {map[string]string{"bot_token": ""}, "", "bot_token", "not_a_bot_token", "xoxb-"},
		"TokenOfAUser":  {map[string]string{"bot_token": "xoxp-1-2"}, "", "bot_token", "not_a_bot_token", "xoxb-"},
		"TokenLines":    {map[string]string{"bot_token": "xoxb-1\nb"}, "", "bot_token", "not_a_bot_token", "xoxb-"},
		"UnknownToken":  {map[string]string{"bot_token": "xoxb-1-unknown"}, "", "bot_token", "invalid_auth", "token"},
		"NoChannel":     {map[string]string{"channel": " "}, "", "channel", "no_such_channel", "Invite"},
		"UnknownName":   {map[string]string{"channel": "#nowhere"}, "", "channel", "no_such_channel", "Invite"},
		"UnknownID":     {map[string]string{"channel": "C0123456789"}, "", "channel", "channel_not_found", "private"},
		"OtherPrivate":  {map[string]string{"channel": private["channel"]}, "", "channel", "channel_not_found", "private"},
		"NotAMember":    {map[string]string{"channel": "khac"}, "", "channel", "bot_not_in_channel", "/invite @dateline"},
		"Archived":      {archived, "", "channel", "channel_archived", "archived"},
		"Outside":       {outside, "", "channel", "bot_not_in_channel", "/invite @dateline"},
		"CannotWrite":   {nil, "chat:write", "bot_token", "scopes_missing", "chat:write"},
		"CannotUpload":  {nil, "files:write", "bot_token", "scopes_missing", "files:write"},
		"CannotRead":    {nil, "files:read", "bot_token", "scopes_missing", "files:read"},
		"NoHistory":     {nil, "channels:history", "bot_token", "scopes_missing", "channels:history"},
		"NoList":        {nil, "channels:read", "channel", "missing_scope", "channels:read"},
		"NoGroups":      {private, "groups:history", "bot_token", "scopes_missing", "groups:history"},
		"NoPrivateList": {private, "groups:read", "channel", "missing_scope", "groups:read"},
	} {
		t.Run(name, func(t *testing.T) {
			f.fake.ClearFaults()
			if row.denied != "" {
				f.inject(t, fake.Fault{Kind: fake.MissingScope, Scope: row.denied, Count: -1})
			}
			_, err := f.form(t, row.values)
			e := network.AsError(err)
			if e == nil || e.Field != row.field || e.Code != row.code || !strings.Contains(e.Message, row.message) {
				t.Errorf("got %+v, want %s of %s with %q", e, row.code, row.field, row.message)
			}
		})
	}
	if other.ID == "" {
		t.Error("no other channel")
	}
}

func TestConnectForm_RefusesAnotherServer(t *testing.T) {
	f := newFixture(t, fake.Options{})
	if _, err := f.network.ConnectForm(t.Context(), "https://slack.example", nil); err == nil {
		t.Error("got no error, want one about the address")
	}
	account := f.connect(t)
	account.BaseURL = "https://slack.example"
	if _, err := f.network.Limits(t.Context(), account); network.AsError(err).Code != "bad_address" {
		t.Errorf("got %v, want bad_address", err)
	}
}

func (f fixture) inject(t *testing.T, fault fake.Fault) {
	t.Helper()
	if err := f.fake.Inject(fault); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.fake.ClearFaults)
}

// Slack refuses with status 200; the code says what it means.
func TestErrors_AreClassifiedByTheirCode(t *testing.T) {
	f := newFixture(t, fake.Options{})
	account := f.connect(t)
	for class, codes := range map[network.Class]string{
		network.Auth: "not_authed invalid_auth account_inactive token_revoked token_expired no_permission missing_scope " +
			"not_in_channel channel_not_found is_archived restricted_action restricted_action_read_only_channel " +
			"ekm_access_denied org_login_required team_access_not_granted two_factor_setup_required",
		network.Throttled: "ratelimited rate_limited message_limit_exceeded",
		network.Transient: "team_added_to_org external_channel_migrating request_timeout",
		network.Ambiguous: "internal_error fatal_error service_unavailable",
		network.Rejected: "msg_too_long no_text invalid_blocks invalid_arguments thread_not_found metadata_too_large " +
			"restricted_action_non_threadable_channel restricted_action_thread_locked slack_connect_file_link_sharing_blocked something_new",
	} {
		for code := range strings.FieldsSeq(codes) {
			t.Run(code, func(t *testing.T) {
				f.fake.ClearFaults()
				body := `{"ok":false,"error":"` + code + `","needed":"chat:write"}`
				f.inject(t, fake.Fault{Kind: fake.Status, Status: http.StatusOK, Path: createPath, Body: body})
				_, err := f.network.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Tin"})
				e := network.AsError(err)
				if e == nil || e.Class != class || e.Code != code || e.Message == "" || e.RequestID == "" {
					t.Fatalf("got %+v, want class %s and code %s", e, class, code)
				}
				if code == "missing_scope" && !strings.Contains(e.Message, "chat:write") {
					t.Errorf("message: got %q, want the scope", e.Message)
				}
				if class == network.Throttled && (e.RetryAt.IsZero() || e.Scope != network.ScopeAccount) {
					t.Errorf("got %+v, want a time to retry", e)
				}
			})
		}
	}
	f.fake.ClearFaults()
	f.inject(t, fake.Fault{Kind: fake.Status, Status: http.StatusOK, Path: createPath, Body: `{"ok":false,` +
		`"error":"invalid_arguments","response_metadata":{"messages":["[ERROR] must be a string [json-pointer:/text]"]}}`})
	_, err := f.network.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Tin"})
	if e := network.AsError(err); e == nil || !strings.Contains(e.Message, "must be a string") {
		t.Errorf("got %v, want what Slack says about the argument", err)
	}
	for _, body := range []string{`{}`, `{"ok":true}`, `{"ok":true,"ts":"now"}`, `[]`, ``, `{"ok":"yes"}`} {
		f.fake.ClearFaults()
		f.inject(t, fake.Fault{Kind: fake.Status, Status: http.StatusOK, Path: createPath, Body: body + " "})
		_, err := f.network.Publish(t.Context(), account, network.Submission{Key: "k", Text: "Tin"})
		if e := network.AsError(err); e == nil || e.Class != network.Ambiguous {
			t.Errorf("%s: got %v, want an ambiguous error", body, err)
		}
	}
}
