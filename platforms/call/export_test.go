package call

import (
	"crypto/tls"
	"net/http"
)

// WithTLS makes a client of NewClient use a TLS configuration for creating calls.
func WithTLS(client *http.Client, config *tls.Config) {
	client.Transport.(*limiter).fresh.(*http.Transport).TLSClientConfig = config
}
