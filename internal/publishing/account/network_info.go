package account

import (
	"context"
	"errors"

	"dateline/platforms/network"
)

// NetworkInfo is a network as somebody who wants to connect an account sees it.
type NetworkInfo struct {
	Name       string
	OAuth      bool                // see Begin
	Fields     []network.FormField // of its form, see ConnectForm; nil: it has none
	Configured bool                // OAuth works as things are
	SetupHint  string              // what the operator must set; a sentence
	Sandbox    bool                // the sandbox plays it
	Instances  bool                // accounts name the address of theirs
	Instance   string              // where accounts are that name none
	CanRenew   bool                // tokens that expire are renewed by themselves
	CanRevoke  bool                // disconnecting takes them back at the network
	Limits     *network.Limits     // that it usually has; nil: not known before an account is connected
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
		return o, nil // nothing that an operator would have to set up
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
