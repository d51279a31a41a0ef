package app

import (
	"net/http"

	"gleaner/internal/service/config"
	"gleaner/internal/service/notify"
)

// OwnClient asks services of the operator's own. The proxy of the settings is the
// crawler's: these are reached as the environment says.
func OwnClient(cfg *config.Config) (*http.Client, error) {
	own := *cfg
	own.Web.Proxy = ""
	return ServiceClient(&own)
}

// Channels are the ways by which whoever runs Gleaner is told what happened; none
// where the settings name none.
func Channels(cfg *config.Config) ([]notify.Channel, error) {
	client, err := OwnClient(cfg)
	if err != nil {
		return nil, err
	}
	return notify.Open(cfg.Notify, client.Transport)
}
