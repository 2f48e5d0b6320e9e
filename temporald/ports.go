package main

import (
	"fmt"
	"net"
	"strconv"
)

// checkPorts reports a taken port before anything starts, in words that name the option to change.
func checkPorts(o options) error {
	type use struct {
		option, ip string
		port       int
	}
	ports := []use{{"--port", o.ip, o.port}}
	if !o.headless {
		ports = append(ports, use{"--ui-port", o.uiIP, o.uiPort})
	}
	if o.metricsPort != 0 {
		ports = append(ports, use{"--metrics-port", o.ip, o.metricsPort})
	}
	for _, u := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(u.ip, strconv.Itoa(u.port)))
		if err != nil {
			return fmt.Errorf("cannot listen on %s %d (stop what uses that port, or choose another): %w", u.option, u.port, err)
		}
		defer func() { _ = listener.Close() }() // Closed at the end, so that a port that is given twice is detected.
	}
	return nil
}

// freePorts returns n free loopback ports. All are held until the last one is known, so
// they differ.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port for an internal service: %w", err)
		}
		defer func() { _ = listener.Close() }()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
