package call

import "dateline/platforms/network"

// Host returns where to call a network that exists once, for an account at
// baseURL: host, or all of the network's copy in the sandbox (empty: there is
// none).
func Host(networkName, baseURL, sandbox, host string) (string, error) {
	switch {
	case baseURL == "":
		return host, nil
	case sandbox != "" && baseURL == sandbox:
		return sandbox, nil
	default:
		return "", &network.Error{Class: network.Rejected, Code: "bad_address", Field: "base_url",
			Message: networkName + " is one service: leave the address empty."}
	}
}
