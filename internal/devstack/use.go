package devstack

import "gleaner/internal/config"

// Use lets a command find the servers of the `starter dev` that runs in the
// settings' data folder, where the settings name none. It reports whether one
// runs.
func Use(cfg *config.Config) bool {
	info, ok := Find(cfg.Text("data-dir"))
	if !ok {
		return false
	}
	for key, value := range map[string]string{"database-url": info.DatabaseURL, "temporal-address": info.TemporalAddress} {
		if cfg.Text(key) == "" && value != "" {
			cfg.Set(key, value, "dev")
		}
	}
	return true
}
