package timezone_test

import (
	"testing"
	"time"

	"dateline/internal/infra/timezone"
)

func TestChanges_FindsAllOfEveryZone(t *testing.T) {
	d := timezone.Open("")
	from, to := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range d.Names() {
		zone, err := d.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		changes := timezone.Changes(zone, from, to)
		offset := timezone.Offset(from.In(zone))
		for at, i := from, 0; at.Before(to); at = at.Add(37 * time.Hour) {
			for ; i < len(changes) && !changes[i].At.After(at); i++ {
				offset = changes[i].After
			}
			if want := timezone.Offset(at.In(zone)); offset != want {
				t.Fatalf("%s at %s: offset %s; want %s", name, at, offset, want)
			}
		}
	}
}
