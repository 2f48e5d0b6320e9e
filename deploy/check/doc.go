// Package check tests the deployment files: that Compose and Kubernetes accept
// docker-compose.yml and the manifests, and that they do what docs/how-to describes. It
// is a separate module because the program does not need the dependencies of these
// tests.
package check
