// Command config prints the services of docker-compose.yml as JSON, like `docker compose
// config --format json`: with all variables and references resolved.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "config:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "docker-compose.yml")},
		cli.WithWorkingDirectory(dir), cli.WithEnvFiles(), cli.WithDotEnv, cli.WithDefaultProfiles("tools"))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project.Services)
}
