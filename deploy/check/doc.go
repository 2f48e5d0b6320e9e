// Package check holds the tests of what is deployed: that docker-compose.yml and
// the Kubernetes manifests are what Compose and Kubernetes take, and that they
// keep to what docs/how-to promises. It is a module of its own because the
// program needs none of what these tests need.
package check
