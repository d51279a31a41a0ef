package console

import (
	_ "embed"
	"net/http"
)

// openapi describes every page's data. It is made from routes by a test, which keeps
// it true: go test ./internal/console -run TestOpenAPI -args -write-openapi
//
//go:embed openapi.json
var openapi []byte

func (c *Console) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openapi)
}
