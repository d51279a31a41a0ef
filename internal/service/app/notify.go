package app

import (
	"gleaner/internal/service/config"
	"gleaner/internal/service/notify"
)

// Channels are the ways by which whoever runs Gleaner is told what happened; none
// where the settings name none. The proxy of the settings is the crawler's: a webhook
// of the operator's own is reached as the environment says.
func Channels(cfg *config.Config) ([]notify.Channel, error) {
	own := *cfg
	own.Web.Proxy = ""
	client, err := serviceClient(&own)
	if err != nil {
		return nil, err
	}
	return notify.Open(cfg.Notify, client.Transport, "Gleaner/"+Version)
}
