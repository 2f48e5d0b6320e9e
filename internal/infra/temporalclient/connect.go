// Package temporalclient talks to a Temporal server: it connects, starts and
// signals workflows, and reads the state of queues. It does not know Dateline's
// workflows; package workflows/starter does.
package temporalclient

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
)

// Options configure the connection to Temporal.
type Options struct {
	Address   string
	Namespace string
	APIKey    string // Temporal Cloud; implies TLS
	TLS       bool
	Metrics   client.MetricsHandler         // nil: none
	Tracing   interceptor.ClientInterceptor // nil: none; it also traces the workers of this client
}

// Connect creates a client. It does not wait for the server: posts must be accepted
// also while Temporal is down.
func Connect(o Options, logger *slog.Logger) (client.Client, error) {
	co := client.Options{
		HostPort: o.Address, Namespace: o.Namespace, Logger: log.NewStructuredLogger(logger),
		MetricsHandler: o.Metrics,
	}
	if isLoopback(o.Address) {
		// Compressing what never leaves the machine costs both sides a tenth of their time.
		co.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if o.Tracing != nil {
		co.Interceptors = append(co.Interceptors, o.Tracing)
	}
	if o.TLS || o.APIKey != "" {
		co.ConnectionOptions.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.APIKey != "" {
		co.Credentials = client.NewAPIKeyStaticCredentials(o.APIKey)
	}
	return client.NewLazyClient(co)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
