package embedded

import (
	"fmt"
	"net"
	"strconv"
	"sync"
)

const loopback = "127.0.0.1"

// ports allocates ports of loopback, each only once.
type ports struct {
	mu   sync.Mutex
	used map[int]bool
}

// pick returns the preferred port if it is free, else a free one. Between the pick and
// the engine's own listen another process may take it; startOnPort then tries again.
func (p *ports) pick(preferred int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == nil {
		p.used = make(map[int]bool)
	}
	for _, candidate := range []int{preferred, 0, 0, 0, 0, 0, 0, 0, 0} {
		if p.used[candidate] {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(candidate)))
		if err != nil {
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		if !p.used[port] {
			p.used[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port was found on %s", loopback)
}

// listen returns a listener on the preferred port, else on a free one.
func (p *ports) listen(preferred int) (net.Listener, error) {
	for range 3 {
		port, err := p.pick(preferred)
		if err != nil {
			return nil, err
		}
		if l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port was found on %s", loopback)
}
