// Package config replaces the configuration of AWS clients, see ../README.md.
package config

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
)

var errExcluded = errors.New("temporald is built without AWS")

// LoadOptions has no options.
type LoadOptions struct{}

// EnvConfig has no values.
type EnvConfig struct{ Credentials aws.Credentials }

// LoadDefaultConfig returns an error.
func LoadDefaultConfig(context.Context, ...func(*LoadOptions) error) (aws.Config, error) {
	return aws.Config{}, errExcluded
}

// NewEnvConfig returns an error.
func NewEnvConfig() (EnvConfig, error) { return EnvConfig{}, errExcluded }

// WithRegion has no effect.
func WithRegion(string) func(*LoadOptions) error { return func(*LoadOptions) error { return nil } }

// WithClientLogMode has no effect.
func WithClientLogMode(aws.ClientLogMode) func(*LoadOptions) error {
	return func(*LoadOptions) error { return nil }
}
