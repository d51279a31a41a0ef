package metadata

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// json asks for an address and reads the JSON that comes.
func (s *service) json(ctx context.Context, addr string, into any) error {
	return s.get(ctx, addr, s.decoding(addr, into))
}

// post sends JSON and reads the JSON that comes.
func (s *service) post(ctx context.Context, addr string, what, into any) error {
	sent, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return s.do(ctx, http.MethodPost, addr, sent, s.decoding(addr, into))
}

func (s *service) decoding(addr string, into any) func(body []byte) error {
	return func(body []byte) error {
		if err := json.Unmarshal(body, into); err != nil {
			return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
		}
		return nil
	}
}

// xml asks for an address and reads the XML that comes.
func (s *service) xml(ctx context.Context, addr string, into any) error {
	return s.get(ctx, addr, func(body []byte) error {
		if err := newDecoder(bytes.NewReader(body), nil).Decode(into); err != nil {
			return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
		}
		return nil
	})
}
