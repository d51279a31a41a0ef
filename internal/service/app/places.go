package app

import (
	"gleaner/internal/fetch"
	"gleaner/internal/ingest/source"
	"gleaner/internal/service/config"
)

// places opens what imports name, by the polite client and the logins of the settings.
func places(cfg *config.Config, client *fetch.Client) source.Places {
	keys := cfg.Policy.SFTP
	return source.Places{Asker: client, Logins: source.Logins{Password: string(cfg.Imports.Password), Identity: keys.Identity, Agent: keys.Agent, KnownHosts: keys.KnownHosts}}
}
