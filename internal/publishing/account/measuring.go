package account

import "dateline/platforms/network"

// MeasureRules returns what the network reports about the account's posts; false if it
// reports nothing.
func (s *Service) MeasureRules(a Account) (network.MeasureRules, bool) {
	adapter, _ := s.Connectors.Get(a.Network)
	m, ok := adapter.(network.Measurer)
	if !ok {
		return network.MeasureRules{}, false
	}
	return m.MeasureRules(network.Account{ID: a.ID.String(), BaseURL: a.BaseURL, RemoteID: a.RemoteID, Kind: a.Kind, Scopes: a.Scopes, Settings: a.Settings}, network.PostRef{}), true
}
