package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/api"
	"dateline/api/spec"
)

// The demo belongs to those who are in it: others get it neither shown nor removed.
func TestDemo_BelongsToItsMembers(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, stranger, _ := s.Found("Rivals")
	theirs := as(s.TokenOf(stranger))
	var made, again spec.Workspace
	s.decode(s.send("POST", "/api/v1/demo", nil), 201, &made)
	s.decode(s.send("POST", "/api/v1/demo", nil), 201, &again)
	require.Equal(t, made.Id, again.Id)

	var demo spec.Demo
	s.decode(s.send("GET", "/api/v1/demo", nil, theirs...), 200, &demo)
	require.True(t, demo.Available)
	require.Nil(t, demo.Workspace)
	s.refused(s.send("POST", "/api/v1/demo", nil, theirs...), 409, "demo_exists")
	s.refused(s.send("DELETE", "/api/v1/demo", nil, theirs...), 404, "demo_not_found")
	// An owner elsewhere who is only a viewer of the demo sees it.
	s.Exec("insert into members (workspace_id, user_id, role, joined_at) values ($1, $2, 'viewer', now())", made.Id,
		stranger.UserID)
	s.decode(s.send("GET", "/api/v1/demo", nil, theirs...), 200, &demo)
	require.NotNil(t, demo.Workspace)
	s.refused(s.send("DELETE", "/api/v1/demo", nil, theirs...), 409, "demo_not_owned")

	require.Equal(t, 204, s.send("DELETE", "/api/v1/demo", nil).StatusCode)
	s.refused(s.send("DELETE", "/api/v1/demo", nil), 404, "demo_not_found")
	require.Zero(t, s.Count("select count(*) from workspaces where id = $1", made.Id))
	require.Equal(t, 1, s.Count("select count(*) from workspaces where id = $1", s.Workspace.ID))
}

// Without the sandbox, the refusal says what is missing.
func TestDemo_NeedsTheSandbox(t *testing.T) {
	t.Parallel()
	s := start(t, func(server *api.Server) { server.Demo = nil })
	var demo spec.Demo
	s.decode(s.send("GET", "/api/v1/demo", nil), 200, &demo)
	require.False(t, demo.Available)
	for _, method := range []string{"POST", "DELETE"} {
		s.refused(s.send(method, "/api/v1/demo", nil), 409, "sandbox_off")
	}
}
