package remote

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	agents "dateline/api/mcp"
)

// mcp serves the tools for agents over standard input and output.
func (o Options) mcp() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "serve the tools of an instance to an agent over standard input and output (MCP)", Args: cobra.NoArgs,
		Long: "Serves tools over the Model Context Protocol on standard input and output, for agents\nthat start " +
			"programs. Others connect to /mcp of the instance. With the role author, what\nthe agent schedules waits " +
			"for the approval of an editor.",
	}
	role := c.Flags().String("role", agents.Author, "highest `role` of the agent: author, editor or owner")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(agentRoles(), cobra.ShellCompDirectiveNoFileComp))
	connected := o.connected(c, func(ctx context.Context, s *session, _ []string) error {
		if !slices.Contains(agentRoles(), *role) {
			return UsageError("--role must be author, editor or owner")
		}
		server := agents.NewServer(agents.Options{Version: o.Version, API: s.Client, MaxRole: *role})
		return server.Run(ctx, &mcp.StdioTransport{})
	})
	_ = c.Flags().MarkHidden("json")
	return connected
}

func agentRoles() []string { return []string{"author", "editor", "owner"} }
