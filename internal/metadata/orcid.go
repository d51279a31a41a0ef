package metadata

import (
	"context"
	"strings"

	"gleaner/internal/gleaner"
)

// ORCID knows which pages people name as their own.
type ORCID struct {
	url string
	svc *service
}

// NewORCID returns a client of the public, keyless interface.
func NewORCID(cfg Config) *ORCID {
	cfg = cfg.withDefaults()
	o := &ORCID{url: cfg.ORCIDURL, svc: newService(cfg, "ORCID", cfg.Delays.ORCID)}
	o.svc.header.Set("Accept", "application/json")
	return o
}

func (o *ORCID) Name() string { return "orcid" }

type orcidValue struct {
	Value string `json:"value"`
}

type orcidPerson struct {
	Name *struct {
		Given  *orcidValue `json:"given-names"`
		Family *orcidValue `json:"family-name"`
		Credit *orcidValue `json:"credit-name"`
	} `json:"name"`
	Others struct {
		Names []struct {
			Content string `json:"content"`
		} `json:"other-name"`
	} `json:"other-names"`
	URLs struct {
		URL []struct {
			URL orcidValue `json:"url"`
		} `json:"researcher-url"`
	} `json:"researcher-urls"`
}

// Person reads the public record of a bare ORCID iD ("0000-0002-1825-0097").
func (o *ORCID) Person(ctx context.Context, id string) (gleaner.Person, error) {
	bare := gleaner.ORCID(id)
	if bare == "" {
		return gleaner.Person{}, ErrRefused{Service: "ORCID", URL: o.url, Reason: "no ORCID iD: " + id}
	}
	var ans orcidPerson
	if err := o.svc.json(ctx, o.url+"/"+bare+"/person", &ans); err != nil {
		return gleaner.Person{}, err
	}
	p := gleaner.Person{Author: gleaner.Author{PID: "orcid:" + bare}}
	addProfile(&p, "orcid", "https://orcid.org/"+bare)
	if ans.Name != nil {
		full := cleanName(valueOf(ans.Name.Given) + " " + valueOf(ans.Name.Family))
		p.Author.Name = full
		if credit := cleanName(valueOf(ans.Name.Credit)); credit != "" && credit != full {
			p.Aliases = appendOfPerson(p.Aliases, credit)
		}
	}
	for _, n := range ans.Others.Names {
		p.Aliases = appendOfPerson(p.Aliases, cleanName(n.Content))
	}
	for _, u := range ans.URLs.URL {
		addURL(&p, u.URL.Value)
	}
	if err := soundPerson(p); err != nil {
		return gleaner.Person{}, ErrBadAnswer{"ORCID", bare, err}
	}
	return p, nil
}

func valueOf(v *orcidValue) string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(v.Value)
}
