package tables

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
)

// ErrInput marks invalid input of a person.
var ErrInput = errors.New("wrong input")

// Documents that a cleaning removes. By default they meet both conditions: their host is
// blacklisted, and their import failed (C §4.2).
const (
	Any             = "any"         // those that meet either condition
	OnlyBlacklisted = "blacklisted" // those on blacklisted hosts
	OnlyFailed      = "failed"      // those that were not imported
)

// SemanticScholar is a source of citations for a whitelist.
const SemanticScholar = "semanticscholar"

// Options configures a job.
type Options struct {
	InPlace   bool                `json:"in_place,omitempty"` // remove; otherwise only report
	Only      string              `json:"only,omitempty"`     // of a cleaning; "" is documents that meet both conditions, or all useless parents
	Ingested  bool                `json:"ingested,omitempty"` // a cleaning also removes imported documents
	Matched   bool                `json:"matched,omitempty"`  // a cleaning also removes matched or reviewed documents of blacklisted hosts
	Ask       bool                `json:"ask,omitempty"`      // a cleaning of parents requests them
	Documents store.DocumentQuery `json:"documents,omitzero"` // to be retrieved
	To        string              `json:"to,omitempty"`       // a folder or bucket for copies; "" for a list only
	Lists     *stats.Lists        `json:"lists,omitempty"`    // of a whitelist
	Source    string              `json:"source,omitempty"`   // of citations; "" for none
}

// Kinds returns the kinds of jobs of this package.
func Kinds() []string {
	return []string{store.JobCleanDocuments, store.JobCleanParents, store.JobWhitelist, store.JobRetrieve}
}

// Fields returns the names of the options of a kind.
func Fields(kind string) []string {
	switch kind {
	case store.JobCleanDocuments:
		return []string{"only", "with-ingested", "with-matched", "confirm"}
	case store.JobCleanParents:
		return []string{"only", "ask", "confirm"}
	case store.JobWhitelist:
		return []string{"domains", "least", "uncited", "ingested"}
	}
	return []string{
		"state", "class", "kind", "outcome", "ingestion", "host", "venue", "year", "from", "to", "text", "primary",
		"sample", "seed", "limit",
	}
}

// Removes reports whether jobs of a kind remove the listed items after confirmation.
func Removes(kind string) bool { return slices.Contains(Fields(kind), "confirm") }

// Defaults returns the default options of a kind.
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
	f := o.fields()[name]
	if kind == store.JobCleanParents && name == "only" {
		f.of = []string{"", OnlyBlacklisted}
	}
	if err := f.set(strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInput, name, err)
	}
	o.Documents.Host = strings.ToLower(o.Documents.Host)
	return nil
}

// Check reports whether the options go together.
func (o Options) Check() error {
	if q := o.Documents; !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return fmt.Errorf("%w: from: %s is later than to, %s", ErrInput, o.Get("from"), o.Get("to"))
	}
	return nil
}

// field is an option: the pointer to its value, and the valid values.
type field struct {
	to any      // *string, *[]string, *bool, *int, *time.Time or *gleaner.Years
	of []string // valid words; nil for any
	n  int      // least number; for a day, days added to the stored time
}

// fields returns the options by name.
func (o *Options) fields() map[string]field {
	q, lists := &o.Documents, o.Lists
	if lists == nil {
		lists = &stats.Lists{}
	}
	return map[string]field{
		"only":          {to: &o.Only, of: []string{"", Any, OnlyBlacklisted, OnlyFailed}},
		"with-ingested": {to: &o.Ingested},
		"with-matched":  {to: &o.Matched},
		"ask":           {to: &o.Ask},
		"confirm":       {to: &o.InPlace},
		"domains":       {to: &lists.Domains, n: 1},
		"least":         {to: &lists.Least, n: 1},
		"uncited":       {to: &lists.Uncited},
		"ingested":      {to: &lists.Ingested},
		"state":         {to: &q.States, of: []string{"new", "accepted", "rejected", "failed"}},
		"class":         {to: &q.Classes, of: document.Classes()},
		"kind":          {to: &q.Kinds, of: document.Kinds()},
		"outcome":       {to: &q.Outcomes, of: document.Outcomes()},
		"ingestion":     {to: &q.Ingestion, of: []string{"", "new", "ingested", "failed"}},
		"host":          {to: &q.Host},
		"venue":         {to: &q.Venue},
		"year":          {to: &q.Years},
		"from":          {to: &q.From},
		"to":            {to: &q.To, n: 1},
		"text":          {to: &q.Text},
		"primary":       {to: &q.Primary},
		"sample":        {to: &q.Sample},
		"seed":          {to: &q.Seed},
		"limit":         {to: &q.Limit},
	}
}

// set parses and stores a value.
func (f field) set(value string) (err error) {
	switch to := f.to.(type) {
	case *string:
		*to, err = value, f.check(value)
	case *[]string: // an unknown word would silently match nothing
		*to = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		for _, w := range *to {
			err = cmp.Or(err, f.check(w))
		}
	case *bool:
		f.of = []string{"", "no", "yes"}
		*to, err = value == "yes", f.check(value)
	case *int:
		if *to = f.n; value != "" {
			*to, err = strconv.Atoi(value)
		}
		if err != nil || *to < f.n {
			err = fmt.Errorf("want a number from %d on, not %q", f.n, value)
		}
	case *time.Time:
		*to = time.Time{}
		if value == "" {
			return nil
		}
		day, wrong := time.ParseInLocation(time.DateOnly, value, time.Local)
		if wrong != nil {
			return fmt.Errorf("want a day such as 2026-01-31, not %q", value)
		}
		*to = day.AddDate(0, 0, f.n)
	case *gleaner.Years:
		if *to = (gleaner.Years{}); value != "" {
			*to, err = gleaner.ParseYears(value)
		}
	}
	return err
}

func (f field) check(value string) error {
	if f.of != nil && !slices.Contains(f.of, value) {
		return fmt.Errorf("want one of %s, not %q", strings.TrimPrefix(strings.Join(f.of, ", "), ", "), value)
	}
	return nil
}

// Get returns an option in the form of Set, or "" if the option is unknown.
func (o Options) Get(name string) string {
	f := o.fields()[name]
	if f.to == nil || reflect.ValueOf(f.to).Elem().IsZero() {
		return ""
	}
	switch to := f.to.(type) {
	case *string:
		return *to
	case *[]string:
		return strings.Join(*to, ",")
	case *bool:
		return "yes"
	case *time.Time:
		return to.Local().AddDate(0, 0, -f.n).Format(time.DateOnly)
	default: // *int and *gleaner.Years
		return fmt.Sprint(reflect.ValueOf(to).Elem())
	}
}

// Describe returns a line that describes a job of a kind.
func (o Options) Describe(kind string) string {
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
