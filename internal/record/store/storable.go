package store

import (
	"bytes"
	"encoding/json"
)

// StorableJSON drops what a jsonb column cannot hold from a JSON text: U+0000,
// which no text of Postgres has. The text is changed only where it has one.
func StorableJSON(raw json.RawMessage) json.RawMessage {
	nul := []byte(`\u0000`)
	if !bytes.Contains(raw, nul) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			out = append(out, raw[i])
			i++
		case bytes.HasPrefix(raw[i:], nul):
			i += len(nul)
		default: // another escape, of which a backslash may be the second half
			out = append(out, raw[i:min(i+2, len(raw))]...)
			i += 2
		}
	}
	return out
}
