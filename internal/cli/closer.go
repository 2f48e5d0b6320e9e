package cli

import (
	"errors"
	"fmt"
)

// closer is a stack of opened resources. Resources that depend on others are opened
// later and therefore closed earlier.
type closer struct{ stack []resource }

type resource struct {
	name  string
	close func() error
}

// push adds a resource that was opened.
func (c *closer) push(name string, closeFunc func() error) {
	c.stack = append(c.stack, resource{name, closeFunc})
}

// pushFunc adds a resource whose closing cannot fail.
func (c *closer) pushFunc(name string, closeFunc func()) {
	c.push(name, func() error { closeFunc(); return nil })
}

// close closes all resources, the last opened first, and returns the errors of all of
// them. A second call does nothing.
func (c *closer) close() error {
	var errs []error
	for len(c.stack) > 0 {
		last := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if err := last.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the %s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}
