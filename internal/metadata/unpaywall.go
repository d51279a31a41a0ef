package metadata

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"gleaner/internal/gleaner"
)

// Unpaywall knows the open copies of works with a DOI.
type Unpaywall struct {
	url     string
	contact string
	svc     *service
}

// NewUnpaywall returns a client. Without a contact every call is an ErrRefused.
func NewUnpaywall(cfg Config) *Unpaywall {
	cfg = cfg.withDefaults()
	u := &Unpaywall{url: cfg.UnpaywallURL, contact: cfg.Contact, svc: newService(cfg, "Unpaywall", cfg.Delays.Unpaywall)}
	u.svc.problem = func(status int, body []byte) error {
		if status != http.StatusUnprocessableEntity {
			return nil
		}
		var e struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(body, &e)
		return ErrRefused{Service: "Unpaywall", Status: status, Reason: "it wants a real contact address, not " + cfg.Contact + ": " + cut(e.Message)}
	}
	return u
}

func (u *Unpaywall) Name() string { return "unpaywall" }

func (u *Unpaywall) usable() error {
	if strings.Contains(u.contact, "@") {
		return nil
	}
	return ErrRefused{Service: "Unpaywall", URL: u.url, Reason: "it answers only with a contact e-mail address, and none is configured"}
}

type unpaywallAnswer struct {
	Locations []struct {
		URL     string `json:"url"`
		PDF     string `json:"url_for_pdf"`
		Landing string `json:"url_for_landing_page"`
		Version string `json:"version"`
		License string `json:"license"`
		Host    string `json:"host_type"`
	} `json:"oa_locations"`
}

// Copies lists all open locations, not only the one that Unpaywall holds for the
// best: that one is at times a broken link while the next is not.
func (u *Unpaywall) Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error) {
	if p.DOI == "" {
		return nil, nil
	}
	if err := u.usable(); err != nil {
		return nil, err
	}
	var ans unpaywallAnswer
	err := u.svc.json(ctx, query(u.url, "/"+escapeDOI(p.DOI), url.Values{"email": {u.contact}}), &ans)
	if is[ErrNotFound](err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Copy
	for _, l := range ans.Locations {
		c := Copy{URL: l.PDF, Version: versionOf(l.Version), License: l.License, Host: HostKind(l.Host), Source: u.Name()}
		if c.Host != AtRepository && c.Host != AtPublisher {
			c.Host = AtUnknown
		}
		if c.URL == "" {
			c.URL, c.Landing = l.Landing, true
		}
		c.URL = cmp.Or(c.URL, l.URL)
		if c.URL != "" {
			out = append(out, c)
		}
	}
	return out, nil
}
