package account

import (
	"context"
	"errors"

	"dateline/platforms/network"
)

// NetworkInfo describes a network to users who want to connect an account.
type NetworkInfo struct {
	Name       string
	OAuth      bool                // see StartAuthorization
	Fields     []network.FormField // of its form, see ConnectForm; nil: no form
	Configured bool                // OAuth works with the current settings
	SetupHint  string              // a sentence with the settings that the operator must set
	Sandbox    bool                // the sandbox has a fake of it
	// SandboxValues are values of the form that the sandbox accepts.
	SandboxValues map[string]string
	Instances     bool            // accounts belong to an instance with its own URL
	Instance      string          // the default instance
	CanRenew      bool            // expiring tokens are renewed automatically
	CanRevoke     bool            // disconnecting revokes tokens at the network
	Limits        *network.Limits // the usual ones; nil: unknown until an account is connected
}

// Networks lists the networks and their ways to connect accounts.
func (s *Service) Networks(ctx context.Context) ([]NetworkInfo, error) {
	var offers []NetworkInfo
	for _, name := range s.Connectors.Names() {
		o, err := s.networkInfo(ctx, name)
		if err != nil {
			return nil, err
		}
		offers = append(offers, o)
	}
	return offers, nil
}

func (s *Service) networkInfo(ctx context.Context, name string) (NetworkInfo, error) {
	adapter, _ := s.Connectors.Get(name)
	o := NetworkInfo{Name: name, Configured: true, Sandbox: s.sandboxURL(name) != ""}
	if form, ok := s.Connectors.FormConnector(name); ok {
		o.Fields = form.Fields()
		if o.Sandbox && s.SandboxValues != nil {
			o.SandboxValues = s.SandboxValues(name)
		}
	}
	if f, ok := adapter.(network.Federated); ok {
		o.Instances, o.Instance = true, f.DefaultInstance()
	}
	_, o.CanRenew = adapter.(network.Refresher)
	_, o.CanRevoke = adapter.(network.Revoker)
	if i, ok := adapter.(network.LimitsDefaulter); ok {
		limits := i.DefaultLimits()
		o.Limits = &limits
	}
	connector, ok := s.Connectors.Connector(name)
	o.OAuth = ok
	if !ok || o.Instances {
		return o, nil // needs no settings
	}
	_, err := connector.Register(ctx, "", s.RedirectURI)
	var e *network.Error
	switch {
	case err == nil:
	case errors.As(err, &e) && e.Code == network.CodeNotConfigured:
		o.Configured, o.SetupHint = false, e.Message
	default:
		return o, err
	}
	return o, nil
}
