// Package types replaces the types of Amazon S3, see ../../README.md.
package types

// Object is an object in a list.
type Object struct{ Key *string }

// CommonPrefix is a folder in a list.
type CommonPrefix struct{ Prefix *string }

// NoSuchBucket is an error.
type NoSuchBucket struct{}

func (*NoSuchBucket) Error() string { return "no such bucket" }

// NoSuchKey is an error.
type NoSuchKey struct{}

func (*NoSuchKey) Error() string { return "no such key" }
