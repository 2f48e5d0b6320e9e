package audience_test

import (
	"testing"

	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

type newsroom struct{ *storetest.Newsroom }

func open(t *testing.T) *newsroom {
	t.Helper()
	return &newsroom{storetest.OpenNewsroom(t)}
}
