package tables

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
)

// ErrInput marks what is wrong with what a person asked for.
var ErrInput = errors.New("wrong input")

// Which documents a cleaning removes. Where nothing is said, those that meet both
// conditions: their host is on the blacklist and they failed to be ingested (C §4.2).
const (
	Any             = "any"         // those that meet one of them
	OnlyBlacklisted = "blacklisted" // those on blacklisted hosts
	OnlyFailed      = "failed"      // those that were not ingested
)

// SemanticScholar may be asked for the citations of a whitelist.
const SemanticScholar = "semanticscholar"

// Options are what a person asks of a job.
type Options struct {
	InPlace   bool                `json:"in_place,omitempty"` // clean; without, only tell what would go
	Only      string              `json:"only,omitempty"`     // of a cleaning; "" is documents that meet both conditions, all parents of no use
	Ingested  bool                `json:"ingested,omitempty"` // a cleaning removes documents that the library took, too
	Matched   bool                `json:"matched,omitempty"`  // a cleaning removes of blacklisted hosts what matches a paper or was decided on, too
	Ask       bool                `json:"ask,omitempty"`      // a cleaning of parents asks for them
	Documents store.DocumentQuery `json:"documents,omitzero"` // to be retrieved
	To        string              `json:"to,omitempty"`       // a folder or bucket for a copy of them; "" for a list alone
	Lists     *stats.Lists        `json:"lists,omitempty"`    // of a whitelist
	Source    string              `json:"source,omitempty"`   // asked for citations; "" for none
}

// Kinds lists the kinds of jobs that this package does.
func Kinds() []string {
	return []string{store.JobCleanDocuments, store.JobCleanParents, store.JobWhitelist, store.JobRetrieve}
}

// Fields lists the names of the options of a kind, as people give them.
func Fields(kind string) []string {
	switch kind {
	case store.JobCleanDocuments:
		return []string{"only", "with-ingested", "with-matched", "confirm"}
	case store.JobCleanParents:
		return []string{"only", "ask", "confirm"}
	case store.JobWhitelist:
		return []string{"domains", "least", "uncited", "ingested"}
	}
	return []string{"state", "class", "kind", "outcome", "ingestion", "host", "venue", "year", "from", "to", "text", "primary", "sample", "seed", "limit"}
}

// Removes reports whether jobs of a kind remove what they list, once they are confirmed.
func Removes(kind string) bool { return slices.Contains(Fields(kind), "confirm") }

// Defaults are the options of a kind where nothing is said.
func Defaults(kind string) Options {
	switch kind {
	case store.JobWhitelist:
		return Options{Lists: &stats.Lists{Domains: 8000, Least: 1}}
	case store.JobRetrieve:
		return Options{Documents: store.DocumentQuery{Seed: "1"}}
	}
	return Options{}
}

// Set sets an option of a kind by its name.
func (o *Options) Set(kind, name, value string) error {
	if !slices.Contains(Kinds(), kind) || !slices.Contains(Fields(kind), name) {
		return fmt.Errorf("%w: a job of kind %q has no option %q", ErrInput, kind, name)
	}
	value = strings.TrimSpace(value)
	err := o.set(name, value)
	if kind == store.JobCleanParents && name == "only" {
		o.Only, err = oneOf(value, "", OnlyBlacklisted)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrInput, name, err)
	}
	return err
}

// Check reports whether the options go together.
func (o Options) Check() error {
	if q := o.Documents; !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return fmt.Errorf("%w: from: %s is later than to, %s", ErrInput, o.Get("from"), o.Get("to"))
	}
	return nil
}

func (o *Options) set(name, value string) (err error) {
	q := &o.Documents
	switch name {
	case "only":
		o.Only, err = oneOf(value, "", Any, OnlyBlacklisted, OnlyFailed)
	case "with-ingested":
		o.Ingested, err = yesNo(value)
	case "with-matched":
		o.Matched, err = yesNo(value)
	case "ask":
		o.Ask, err = yesNo(value)
	case "confirm":
		o.InPlace, err = yesNo(value)
	case "domains":
		o.Lists.Domains, err = number(value, 1)
	case "least":
		o.Lists.Least, err = number(value, 1)
	case "uncited":
		o.Lists.Uncited, err = yesNo(value)
	case "ingested":
		o.Lists.Ingested, err = yesNo(value)
	case "state":
		q.States, err = words(value, "new", "accepted", "rejected", "failed")
	case "class":
		q.Classes, err = words(value, document.Classes()...)
	case "kind":
		q.Kinds, err = words(value, document.Kinds()...)
	case "outcome":
		q.Outcomes, err = words(value, document.Outcomes()...)
	case "ingestion":
		q.Ingestion, err = oneOf(value, "", "new", "ingested", "failed")
	case "host":
		q.Host = strings.ToLower(value)
	case "venue":
		q.Venue = value
	case "year":
		q.Years = gleaner.Years{}
		if value != "" {
			q.Years, err = gleaner.ParseYears(value)
		}
	case "from":
		q.From, err = day(value, 0)
	case "to":
		q.To, err = day(value, 1) // the day itself is meant, too
	case "text":
		q.Text = value
	case "primary":
		q.Primary, err = yesNo(value)
	case "sample":
		q.Sample, err = number(value, 0)
	case "seed":
		q.Seed = value
	case "limit":
		q.Limit, err = number(value, 0)
	}
	return err
}

// Get is an option as Set takes it.
func (o Options) Get(name string) string {
	q := o.Documents
	switch name {
	case "only":
		return o.Only
	case "with-ingested":
		return yes(o.Ingested)
	case "with-matched":
		return yes(o.Matched)
	case "ask":
		return yes(o.Ask)
	case "confirm":
		return yes(o.InPlace)
	case "domains", "least", "uncited", "ingested":
		if o.Lists == nil {
			return ""
		}
		return map[string]string{"domains": strconv.Itoa(o.Lists.Domains), "least": strconv.Itoa(o.Lists.Least), "uncited": yes(o.Lists.Uncited), "ingested": yes(o.Lists.Ingested)}[name]
	case "year":
		if q.Years == (gleaner.Years{}) {
			return ""
		}
		return q.Years.String()
	case "from":
		return dayOf(q.From, 0)
	case "to":
		return dayOf(q.To, -1)
	case "sample":
		return some(q.Sample)
	case "limit":
		return some(q.Limit)
	}
	return map[string]string{"state": strings.Join(q.States, ","), "class": strings.Join(q.Classes, ","), "kind": strings.Join(q.Kinds, ","), "outcome": strings.Join(q.Outcomes, ","),
		"ingestion": q.Ingestion, "host": q.Host, "venue": q.Venue, "text": q.Text, "primary": yes(q.Primary), "seed": q.Seed}[name]
}

// Say says in a line what a job of a kind does.
func (o Options) Say(kind string) string {
	said := []string{}
	for _, f := range Fields(kind) {
		if v := o.Get(f); v != "" && f != "confirm" {
			said = append(said, f+"="+v)
		}
	}
	switch {
	case kind != store.JobCleanDocuments && kind != store.JobCleanParents:
	case o.InPlace:
		said = append(said, "in place")
	default:
		said = append(said, "dry run")
	}
	if o.To != "" {
		said = append(said, "to folder "+o.To)
	}
	return strings.Join(said, " ")
}

func oneOf(value string, of ...string) (string, error) {
	if !slices.Contains(of, value) {
		return "", fmt.Errorf("want one of %s, not %q", strings.TrimPrefix(strings.Join(of, ", "), ", "), value)
	}
	return value, nil
}

// words are those of a list: an unknown one would find nothing, and say nothing.
func words(value string, of ...string) ([]string, error) {
	all := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	for _, w := range all {
		if _, err := oneOf(w, of...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func yesNo(value string) (bool, error) {
	word, err := oneOf(value, "", "no", "yes")
	return word == "yes", err
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func number(value string, least int) (int, error) {
	if value == "" {
		return least, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		return 0, fmt.Errorf("want a number from %d on, not %q", least, value)
	}
	return n, nil
}

func some(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func day(value string, more int) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, value, time.Local)
	if err != nil {
		return t, fmt.Errorf("want a day such as 2026-01-31, not %q", value)
	}
	return t.AddDate(0, 0, more), nil
}

func dayOf(t time.Time, more int) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().AddDate(0, 0, more).Format(time.DateOnly)
}
