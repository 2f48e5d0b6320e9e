// Package workercomponent replaces the worker that scales other workers, see
// ../../../README.md.
package workercomponent

import "go.uber.org/fx"

// Module provides nothing.
var Module = fx.Options()
