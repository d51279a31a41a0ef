package app

import (
	"context"
	"net/http"

	"gleaner/internal/library/repository"
	"gleaner/internal/service/config"
)

// OpenRepository opens the blob store of the settings alone.
func OpenRepository(ctx context.Context, cfg *config.Config) (*repository.Repository, error) {
	return openRepository(ctx, cfg)
}

// ServiceClient is the client by which outside services are asked, through the
// proxy and with the authorities of the settings.
func ServiceClient(cfg *config.Config) (*http.Client, error) { return serviceClient(cfg) }
