package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// startUI serves the Web UI in the background and returns when it listens. checkPorts
// has checked its port: the UI server cannot return a listening error, it ends the
// process.
func startUI(o options) (*uiserver.Server, error) {
	host := o.uiIP
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // The UI server joins host and port with a plain colon.
	}
	ui := uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host:                host,
		Port:                o.uiPort,
		TemporalGRPCAddress: o.frontend(),
		EnableUI:            true,
		DefaultNamespace:    defaultNamespace,
		DisableNewsFetch:    true,                                // No calls home.
		CORS:                uiconfig.CORS{CookieInsecure: true}, // Plain HTTP: without it browsers drop the CSRF cookie, and every action fails.
		HideLogs:            true,
	}))
	go func() { _ = ui.Start() }()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", o.ui()) //nolint:gosec // its own address
		if err == nil {
			return ui, conn.Close()
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the Web UI does not answer: %w", err)
		}
	}
}
