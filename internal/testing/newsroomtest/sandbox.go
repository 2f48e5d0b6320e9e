package newsroomtest

import (
	"dateline/internal/identity/secret"
	"dateline/internal/publishing/account"
	"dateline/platforms/fake"
)

// Everywhere connects an account at every network like a user: through the consent
// page, which allows immediately, or with the network's form.
func (n *Newsroom) Everywhere() []account.Account {
	n.T.Helper()
	add := func(a fake.Account) fake.Account {
		n.T.Helper()
		if a.Name == "" {
			a.Name = "desk"
		}
		there, err := n.Fake.Add(a)
		n.Must(err)
		return there
	}
	all := []account.Account{n.Allow("desk")}
	for _, name := range []string{"instagram", "threads", "x", "zalo"} {
		add(fake.Account{Network: name})
		all = append(all, n.Consented(name)...)
	}
	for name, kind := range map[string]string{"facebook": "page", "linkedin": "organization"} {
		add(fake.Account{Network: name, Kind: kind, OwnerID: add(fake.Account{Network: name}).ID, Name: "newsroom"})
		all = append(all, n.Consented(name)...)
	}
	for _, a := range []fake.Account{
		{Network: "bluesky"},
		{Network: "discord"},
		{Network: "ghost"},
		{Network: "nostr"},
		{Network: "slack"},
		{Network: "telegram", ID: "-1002000000001"},
		{Network: "wordpress"},
	} {
		add(a)
		values := map[string]secret.Text{}
		for field, value := range n.Fake.FormValues(a.Network, "desk") {
			values[field] = secret.NewText(value)
		}
		made, err := n.Accounts.ConnectForm(n.T.Context(), n.Owner, account.Instance{Network: a.Network, Sandbox: true},
			values)
		n.Must(err)
		all = append(all, made.Account)
	}
	return all
}

// Consented connects all accounts that a consent page of the sandbox offers.
func (n *Newsroom) Consented(name string) []account.Account {
	n.T.Helper()
	link, err := n.Accounts.StartAuthorization(n.T.Context(), n.Owner, account.Instance{Network: name, Sandbox: true})
	n.Must(err)
	back := Consent(n.T, link)
	made, err := n.Accounts.CompleteAuthorization(n.T.Context(), account.Callback{
		State: back.Get("state"), Code: back.Get("code"),
	})
	n.Must(err)
	if made.Choice == nil {
		return []account.Account{made.Account}
	}
	var ids []string
	for _, c := range made.Choice.Accounts {
		ids = append(ids, c.RemoteID)
	}
	chosen, err := n.Accounts.ChooseWithKey(n.T.Context(), made.Choice.ID, made.Choice.Key, ids)
	n.Must(err)
	return chosen
}
