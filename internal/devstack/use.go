package devstack

import (
	"cmp"

	"gleaner/internal/service/config"
)

// Use lets a command find the servers of the `starter dev` that runs in the
// settings' data folder, where the settings name none.
func Use(cfg *config.Config) {
	s := cfg.Servers
	if info, ok := Find(s.DataDir); ok {
		cfg.UseServers(cmp.Or(s.Database, config.Secret(info.DatabaseURL)), cmp.Or(s.Temporal, info.TemporalAddress))
	}
}
