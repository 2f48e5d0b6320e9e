// Package redisclient opens clients of Redis.
//
// Other packages take a redis.Cmdable: each package that names redis.Client, redis.ClusterClient or
// redis.UniversalClient compiles the methods of all commands once more, which takes 1.3 seconds (go-redis 9, Go 1.26).
package redisclient

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrURL is the error of an invalid address. That of go-redis may contain the password.
var ErrURL = errors.New("REDIS_URL is not a valid Redis URL")

// Open creates a client for a URL, or for the comma-separated hosts of a cluster. A maxRetries of 0 leaves it to the
// URL or the default of go-redis, and -1 disables retries.
func Open(address string, maxRetries int) (redis.UniversalClient, error) {
	if !strings.Contains(address, "://") {
		return redis.NewUniversalClient(&redis.UniversalOptions{
			Addrs: strings.Split(address, ","), IsClusterMode: true, MaxRetries: maxRetries,
		}), nil
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, ErrURL
	}
	if maxRetries != 0 {
		o.MaxRetries = maxRetries
	}
	return redis.NewClient(o), nil
}

// IsCluster reports whether it is the client of a Redis Cluster.
func IsCluster(client redis.Cmdable) bool {
	_, yes := client.(*redis.ClusterClient)
	return yes
}
