package fake

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Start listens on an address such as 127.0.0.1:0 and serves until Close.
func (s *Server) Start(address string) error {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	if s.server != nil {
		return errors.New("the fake network is already listening")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for the fake network: %w", err)
	}
	s.address = listener.Addr().String()
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.serve(listener)
	return nil
}

func (s *Server) serve(listener net.Listener) {
	s.listener = listener
	server := s.server
	go func() { _ = server.Serve(listener) }() // returns when the listener is closed
}

// URL returns the address of the listener that Start opened.
func (s *Server) URL() string {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	return "http://" + s.address
}

// NetworkURL returns the base URL of a fake network, which is Account.BaseURL of
// its accounts; empty: there is no fake of that network.
func (s *Server) NetworkURL(network string) string {
	f := s.networkNamed(network)
	if f == nil {
		return ""
	}
	return s.URL() + f.prefix
}

// Refuse makes the port refuse connections, and closes idle ones, until the
// returned function is called or the duration is over (0: no end).
func (s *Server) Refuse(duration time.Duration) (resume func() error, err error) {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	if s.server == nil {
		return nil, errors.New("the fault refuse requires the fake network's own listener: use Start")
	}
	if s.listener == nil {
		return s.resume, nil
	}
	err = s.listener.Close()
	s.listener = nil
	s.server.SetKeepAlivesEnabled(false) // also closes idle connections
	if duration > 0 {
		time.AfterFunc(duration, func() { _ = s.resume() })
	}
	return s.resume, err
}

func (s *Server) resume() error {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	if s.listener != nil || s.server == nil {
		return nil
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen again for the fake network: %w", err)
	}
	s.server.SetKeepAlivesEnabled(true)
	s.serve(listener)
	return nil
}

func (s *Server) stopListening() error {
	s.listenMu.Lock()
	defer s.listenMu.Unlock()
	if s.server == nil {
		return nil
	}
	server := s.server
	s.server, s.listener = nil, nil
	return server.Close()
}
