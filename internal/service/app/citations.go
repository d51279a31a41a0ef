package app

import (
	"net/http"

	"gleaner/internal/fetch"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/metadata"
)

// citations is the catalogue that is asked how often papers are cited.
func (a *App) citations(client *http.Client, gate fetch.Gate) stats.Citations {
	return metadata.NewSemanticScholar(metadata.Config{Contact: email(a.Config.Web.Contact), SemanticScholarKey: string(a.Config.Catalogues.SemanticScholarKey),
		HTTPClient: client, Gate: gate, Memory: a.memory, Log: a.Log})
}
