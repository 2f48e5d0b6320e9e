package account

import (
	"context"

	"dateline/platforms/network"
)

func appName(networkName, base string) string { return "app/" + networkName + "/" + base }

// ensureApp returns the app for new connections: the operator's, or the one that
// Dateline registers at the instance if there is none yet.
func (s *Service) ensureApp(
	ctx context.Context, connector network.Connector, networkName, base string,
) (network.App, error) {
	if _, many := connector.(network.Federated); !many {
		app, err := connector.Register(ctx, base, s.RedirectURI)
		if err != nil {
			return network.App{}, connectError(err, "network")
		}
		return app, nil
	}
	app, found, err := s.storedApp(ctx, networkName, base, s.RedirectURI)
	if found || err != nil {
		return app, err
	}
	app, err = connector.Register(ctx, base, s.RedirectURI)
	if err != nil {
		return network.App{}, connectError(err, "base_url")
	}
	sealed, err := s.Sealer.Seal(app.ClientSecret, appName(networkName, base))
	if err != nil {
		return network.App{}, err
	}
	if err := s.Store.SaveApp(ctx, App{
		Network: networkName, BaseURL: base, RedirectURI: s.RedirectURI,
		ClientID: app.ClientID, SealedSecret: sealed,
	}); err != nil {
		return network.App{}, err
	}
	// A concurrent request may have registered one: use the stored app.
	app, _, err = s.storedApp(ctx, networkName, base, s.RedirectURI)
	return app, err
}

// storedApp returns Dateline's app at an instance.
func (s *Service) storedApp(ctx context.Context, networkName, base, redirectURI string) (network.App, bool, error) {
	stored, found, err := s.Store.App(ctx, networkName, base, redirectURI)
	if !found || err != nil {
		return network.App{}, false, err
	}
	clientSecret, err := s.Sealer.Open(stored.SealedSecret, appName(networkName, base))
	return network.App{BaseURL: base, RedirectURI: redirectURI, ClientID: stored.ClientID, ClientSecret: clientSecret},
		err == nil, err
}

// appOf returns the app that an account's tokens were issued to. Accounts that were
// connected by a form name none; for them it returns the current app, if there is one.
func (s *Service) appOf(ctx context.Context, a Account) (network.App, error) {
	connector, ok := s.Connectors.Connector(a.Network)
	if !ok {
		return network.App{BaseURL: a.BaseURL}, nil
	}
	redirect := a.App
	if redirect == "" {
		redirect = s.RedirectURI
	}
	if _, many := connector.(network.Federated); !many {
		return connector.Register(ctx, a.BaseURL, redirect)
	}
	app, found, err := s.storedApp(ctx, a.Network, a.BaseURL, redirect)
	if err == nil && !found {
		if a.App == "" {
			return network.App{BaseURL: a.BaseURL}, nil
		}
		err = &network.Error{
			Class: network.Auth, Code: "app_unknown",
			Message: "Dateline's registration at this instance is unknown. Reconnect the account.",
		}
	}
	return app, err
}
