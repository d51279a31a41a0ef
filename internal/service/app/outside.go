package app

import (
	"net/http"

	"gleaner/internal/service/config"
)

// ServiceClient is the client by which outside services are asked, through the
// proxy and with the authorities of the settings.
func ServiceClient(cfg *config.Config) (*http.Client, error) { return serviceClient(cfg) }
