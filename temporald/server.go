package main

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	loopback = "127.0.0.1"
	// clusterName is start-dev's too, and it is stored in the file: either program can open the other's.
	clusterName = "active"
	archivalOff = "disabled"

	defaultStore    = "default"
	visibilityStore = "visibility"
)

// newServer configures a server whose four services talk to each other over loopback and share one
// SQLite file or two Postgres databases, which must have their schema.
func newServer(o options, logger *slog.Logger) (temporal.Server, error) {
	store, visibility := sqlConfig(o.dbFilename), sqlConfig(o.dbFilename)
	if o.postgres != nil {
		databases := postgresDatabases(o.postgres)
		store, visibility = postgresConfig(o.postgres, databases[0].name), postgresConfig(o.postgres, databases[1].name)
	}
	if err := createNamespaces(store, o); err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	internal := func(port int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopback}}
	}
	services := map[string]config.Service{
		string(primitives.FrontendService): {RPC: config.RPC{GRPCPort: o.port, BindOnIP: o.ip}},
		string(primitives.HistoryService):  internal(ports[0]),
		string(primitives.MatchingService): internal(ports[1]),
		string(primitives.WorkerService):   internal(ports[2]),
	}
	// Fixed hosts instead of gossip: there is no membership port.
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range services {
		address := net.JoinHostPort(loopback, strconv.Itoa(service.RPC.GRPCPort))
		if name == string(primitives.FrontendService) {
			address = o.frontend()
		}
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address)
	}
	off := config.ArchivalNamespaceDefaults{}
	off.History.State, off.Visibility.State = archivalOff, archivalOff
	conf := &config.Config{
		Services: services,
		Persistence: config.Persistence{
			DefaultStore:     defaultStore,
			VisibilityStore:  visibilityStore,
			NumHistoryShards: int32(o.shards), //nolint:gosec // checked in options.go. The number of the first start wins.
			DataStores:       map[string]config.DataStore{defaultStore: {SQL: store}, visibilityStore: {SQL: visibility}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled:                true,
				InitialFailoverVersion: 1,
				RPCAddress:             o.frontend(),
				ClusterID:              uuid.NewString(), // The file's own id wins on later starts.
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: archivalOff},
			Visibility: config.VisibilityArchival{State: archivalOff},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: off},
		PublicClient:      config.PublicClient{HostPort: o.frontend()},
	}
	conf.Global.Membership.MaxJoinDuration = 30 * time.Second
	conf.Global.Membership.BroadcastAddress = loopback
	if o.metricsPort != 0 {
		conf.Global.Metrics = &metrics.Config{Prometheus: &metrics.PrometheusConfig{
			ListenAddress: net.JoinHostPort(o.ip, strconv.Itoa(o.metricsPort)),
			HandlerPath:   "/metrics",
		}}
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(serverLogger{logger}),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(dynamicConfig()),
	)
	if err != nil {
		return nil, fmt.Errorf("configure the Temporal server: %w", err)
	}
	return server, nil
}

// sqlConfig describes the one connection that all services share; the plugin pools by this configuration. The attributes
// other than mode are SQLite pragmas (https://www.sqlite.org/pragma.html).
func sqlConfig(path string) *config.SQL {
	return &config.SQL{
		PluginName:   sqlite.PluginName,
		DatabaseName: sqliteURI(path)[len("file:"):], // The plugin prepends "file:".
		ConnectAttributes: map[string]string{
			"mode":         "rw",
			"busy_timeout": "5000",
			"journal_mode": "wal",
			"locking_mode": "exclusive", // Two servers on one file would fight over its shards.
			"synchronous":  "full",      // A change that was acknowledged also survives a power cut.
			// A workflow rewrites the same pages over and over: they are carried
			// from the log to the file every 64 MB and not, as by default, every 4,
			// and are found in 128 MB of memory and not in 2.
			"wal_autocheckpoint": "16384",   // pages of 4 KiB
			"cache_size":         "-131072", // KiB, which SQLite expects as a negative number
		},
	}
}

// createNamespaces writes the namespaces that do not exist yet, with their search attributes, before the server starts and
// caches them. Existing ones are brought up to date by register.
func createNamespaces(store *config.SQL, o options) error {
	for _, name := range o.namespaces {
		namespace, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, o.searchAttributes)
		if err != nil {
			return fmt.Errorf("configure namespace %q: %w", name, err)
		}
		namespace.Detail.Config.Retention = durationpb.New(o.retention)
		if err := sqliteschema.CreateNamespaces(store, namespace); err != nil {
			return fmt.Errorf("create namespace %q: %w", name, err)
		}
	}
	return nil
}

// dynamicConfig tunes the server for one machine. Eager workflow and activity starts and updates are on by default.
func dynamicConfig() dynamicconfig.Client {
	return dynamicconfig.StaticClient{
		// No calls home.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// More partitions only help when they are spread over several hosts, and they cost order and forwarding.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		// SQLite is the bottleneck. Rejecting work earlier would only delay thousands
		// of posts of one second.
		dynamicconfig.FrontendRPS.Key():                                         20000,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():                  20000,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key():        200,
		dynamicconfig.FrontendMaxConcurrentLongRunningRequestsPerInstance.Key(): 10000,
		dynamicconfig.HistoryRPS.Key():                                          20000,
		dynamicconfig.MatchingRPS.Key():                                         20000,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                           20000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                            45000,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():                           20000,
		dynamicconfig.WorkerPersistenceMaxQPS.Key():                             5000,
		// Workflows kept in memory; start-dev's number instead of a cluster's 128,000.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 8096,
	}
}
