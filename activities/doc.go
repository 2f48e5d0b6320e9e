// Package activities registers the side effects of the workflows with Temporal:
// thin adapters, one file per area, that call the domain packages.
package activities
