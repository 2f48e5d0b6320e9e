package call

import "dateline/platforms/network"

// Host returns the host to call for an account at baseURL, on a network with a
// single service: host, or the fake network at sandbox (empty: there is none).
func Host(networkName, baseURL, sandbox, host string) (string, error) {
	switch {
	case baseURL == "":
		return host, nil
	case sandbox != "" && baseURL == sandbox:
		return sandbox, nil
	default:
		return "", &network.Error{Class: network.Rejected, Code: "bad_address", Field: "base_url",
			Message: networkName + " has a single service: leave the address empty."}
	}
}
