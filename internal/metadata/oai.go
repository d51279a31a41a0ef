package metadata

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"

	"gleaner/internal/gleaner"
)

// OAI harvests a repository or a library's catalogue by OAI-PMH 2.0, in simple
// Dublin Core. It serves two ends: the papers of a venue that has a set of its
// own (IDs["oai"]), and a library's holdings.
type OAI struct {
	endpoint string
	svc      *service
}

// NewOAI returns a client for one endpoint ("https://repo.example.org/oai").
func NewOAI(cfg Config, endpoint string) *OAI {
	cfg = cfg.withDefaults()
	return &OAI{endpoint: endpoint, svc: newService(cfg, "OAI-PMH at "+endpoint, cfg.Delays.OAI)}
}

func (o *OAI) Name() string { return "oai" }

// ErrOAI is an error that an endpoint reports in the protocol's own words.
type ErrOAI struct {
	Endpoint string
	Code     string // "badArgument", "cannotDisseminateFormat", "noSetHierarchy", …
	Message  string
}

// Error gives the code and the endpoint's explanation.
func (e ErrOAI) Error() string {
	return fmt.Sprintf("OAI-PMH at %s: %s: %s", e.Endpoint, e.Code, e.Message)
}

type oaiAnswer struct {
	Errors []struct {
		Code    string `xml:"code,attr"`
		Message string `xml:",chardata"`
	} `xml:"error"`
	Records []oaiRecord `xml:"ListRecords>record"`
	Token   struct {
		Value string `xml:",chardata"`
		Size  int    `xml:"completeListSize,attr"`
	} `xml:"ListRecords>resumptionToken"`
}

type oaiRecord struct {
	Header struct {
		Status     string `xml:"status,attr"`
		Identifier string `xml:"identifier"`
	} `xml:"header"`
	DC struct {
		Title      []rich   `xml:"title"`
		Creator    []string `xml:"creator"`
		Date       []string `xml:"date"`
		Identifier []string `xml:"identifier"`
		Relation   []string `xml:"relation"`
		Source     []string `xml:"source"`
	} `xml:"metadata>dc"`
}

// records calls yield for each record that is not deleted, page by page; it reports
// whether it keeps the record. An empty list is no error. If the endpoint forgets its
// token on the way, the harvest begins anew, once, and yield sees records again: it has
// to be idempotent by key.
func (o *OAI) records(ctx context.Context, set string, yield func(gleaner.Paper) bool) error {
	restarted := false
	token := ""
	var list paging
	tokens := map[[sha256.Size]byte]bool{} // a token may be of any length
	for {
		ans, err := o.page(ctx, set, token)
		if err != nil {
			return err
		}
		if len(ans.Errors) > 0 {
			code := ans.Errors[0].Code
			switch {
			case code == "noRecordsMatch":
				return nil
			case code == "badResumptionToken" && token != "" && !restarted:
				restarted, token = true, ""
				clear(tokens)
				continue
			}
			return ErrOAI{o.endpoint, cut(code), cut(ans.Errors[0].Message)}
		}
		var kept []gleaner.Paper
		for _, r := range ans.Records {
			if r.Header.Status == "deleted" || len(r.DC.Title) == 0 || r.key() == "" {
				continue
			}
			if p := r.paper(); yield(p) {
				kept = append(kept, p)
			}
		}
		next := strings.TrimSpace(ans.Token.Value)
		if next == "" {
			return nil
		}
		sum := sha256.Sum256([]byte(next))
		if tokens[sum] {
			return ErrBadAnswer{o.svc.name, o.endpoint, fmt.Errorf("the same resumption token twice: %s", cut(next))}
		}
		// A page without any record that is wanted is as good as another.
		if err := list.more(max(len(kept), 1), kept); err != nil {
			return ErrBadAnswer{o.svc.name, o.endpoint, err}
		}
		tokens[sum], token = true, next
	}
}

// page asks for one page; a token excludes every other argument.
func (o *OAI) page(ctx context.Context, set, token string) (oaiAnswer, error) {
	params := url.Values{"verb": {"ListRecords"}}
	if token != "" {
		params.Set("resumptionToken", token)
	} else {
		params.Set("metadataPrefix", "oai_dc")
		if set != "" {
			params.Set("set", set)
		}
	}
	sign := "?"
	if strings.Contains(o.endpoint, sign) {
		sign = "&"
	}
	var ans oaiAnswer
	err := o.svc.xml(ctx, o.endpoint+sign+params.Encode(), &ans)
	return ans, err
}

// Papers lists the records of the venue's set (IDs["oai"]) dated in the years.
func (o *OAI) Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	set := v.IDs["oai"]
	if set == "" {
		return nil, ErrNotCovered{o.Name(), v.Key, "oai"}
	}
	var out []gleaner.Paper
	seen := map[string]bool{}
	err := o.records(ctx, set, func(p gleaner.Paper) bool {
		if !years.Contains(p.Year) || seen[p.Key] || isFrontMatter(p.Title) {
			return false
		}
		seen[p.Key] = true
		p.Venue = v.Key
		out = append(out, p)
		return true
	})
	return out, err
}

// key is the record's identifier, marked as one of OAI-PMH: an endpoint must not overwrite a
// paper of another source. It is "" where there is none.
func (r oaiRecord) key() string {
	id := strings.TrimSpace(r.Header.Identifier)
	if id == "" || strings.HasPrefix(strings.ToLower(id), "oai:") {
		return id
	}
	return "oai:" + id
}

func (r oaiRecord) paper() gleaner.Paper {
	p := gleaner.Paper{Key: r.key(), Title: cleanTitle(string(r.DC.Title[0]))}
	for _, c := range r.DC.Creator {
		if name := uninvert(cleanName(c)); name != "" {
			p.Authors = append(p.Authors, gleaner.Author{Name: name})
		}
	}
	for _, d := range r.DC.Date {
		// Repositories add dates of deposit, which are later than publication.
		if y := yearsIn(d).From; y > 0 && (p.Year == 0 || y < p.Year) {
			p.Year = y
		}
	}
	for _, id := range append(append([]string{}, r.DC.Identifier...), r.DC.Relation...) {
		id = strings.TrimSpace(id)
		p.DOI = cmp.Or(p.DOI, gleaner.DOIInURL(id))
		p.ArXiv = cmp.Or(p.ArXiv, gleaner.LabelledArXiv(id))
		if strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://") {
			p.Links = append(p.Links, id)
		}
	}
	return p
}

// uninvert turns "Turing, Alan M." round.
func uninvert(name string) string {
	last, first, ok := strings.Cut(name, ",")
	first = strings.TrimSpace(first)
	if !ok || first == "" || strings.Contains(first, ",") {
		return name
	}
	return first + " " + strings.TrimSpace(last)
}
