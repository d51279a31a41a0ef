package metadata

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// json asks for an address and reads the JSON that comes.
func (s *service) json(ctx context.Context, addr string, into any) error {
	body, err := s.get(ctx, addr)
	if err != nil {
		return err
	}
	return s.decode(addr, body, into)
}

// post sends JSON and reads the JSON that comes.
func (s *service) post(ctx context.Context, addr string, what, into any) error {
	sent, err := json.Marshal(what)
	if err != nil {
		return err
	}
	body, err := s.do(ctx, http.MethodPost, addr, sent)
	if err != nil {
		return err
	}
	return s.decode(addr, body, into)
}

func (s *service) decode(addr string, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
	}
	return nil
}

// xml asks for an address and reads the XML that comes.
func (s *service) xml(ctx context.Context, addr string, into any) error {
	body, err := s.get(ctx, addr)
	if err != nil {
		return err
	}
	if err := newDecoder(bytes.NewReader(body), nil).Decode(into); err != nil {
		return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
	}
	return nil
}
