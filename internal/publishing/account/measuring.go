package account

import "dateline/platforms/network"

// Measuring is what a network reports about the posts of an account.
type Measuring struct {
	Metrics     []string
	IsPaid      bool   // the network charges for reading them
	Unsupported string // why nothing is reported about this account; empty: it is
}

// Measuring returns what the network reports about the posts of an account; false if
// it reports nothing about any account.
func (s *Service) Measuring(a Account) (Measuring, bool) {
	adapter, _ := s.Connectors.Get(a.Network)
	m, ok := adapter.(network.Measurer)
	if !ok {
		return Measuring{}, false
	}
	rules := m.MeasureRules(network.Account{
		ID: a.ID.String(), BaseURL: a.BaseURL, RemoteID: a.RemoteID, Kind: a.Kind,
		Scopes: a.Scopes, Settings: a.Settings,
	}, network.PostRef{})
	out := Measuring{IsPaid: rules.Paid, Unsupported: rules.Unsupported}
	for _, name := range rules.Metrics {
		out.Metrics = append(out.Metrics, string(name))
	}
	return out, true
}
