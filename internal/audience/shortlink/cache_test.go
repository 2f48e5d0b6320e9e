package shortlink

import (
	"fmt"
	"testing"
	"time"
)

func TestCache_ExpiresEntries(t *testing.T) {
	var c cache
	now := time.Now()
	c.put("a", Link{URL: "https://a.example"}, true, now)
	c.put("none", Link{}, false, now)
	if l, found, ok := c.get("a", now.Add(cacheTTL)); !ok || !found || l.URL != "https://a.example" {
		t.Errorf("%+v %v %v", l, found, ok)
	}
	if _, found, ok := c.get("none", now.Add(missTTL)); !ok || found {
		t.Errorf("unknown code: got found=%v, cached=%v", found, ok)
	}
	for code, life := range map[string]time.Duration{"a": cacheTTL, "none": missTTL, "never asked": -time.Second} {
		if _, _, ok := c.get(code, now.Add(life+time.Second)); ok {
			t.Errorf("%s is cached for too long", code)
		}
	}
}

// Guessed codes neither fill the memory nor evict codes in use.
func TestCache_IsBounded(t *testing.T) {
	var c cache
	now := time.Now()
	c.put("asked for", Link{}, true, now)
	for i := range 3 * maxCacheEntries {
		c.put(fmt.Sprint(i), Link{}, false, now)
		if i%1000 == 0 {
			if _, _, ok := c.get("asked for", now); !ok {
				t.Fatalf("evicted after %d guessed codes", i)
			}
		}
		if n := len(c.young) + len(c.old); n > maxCacheEntries {
			t.Fatalf("%d codes are cached", n)
		}
	}
}
