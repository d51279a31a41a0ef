package harvest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
)

// Directory is a directory of people, with identifiers of its own.
type Directory interface {
	// Name is "dblp", "orcid", "semanticscholar".
	Name() string
	// IDs returns the directory's identifiers of the subjects' authors, "" for unknown
	// ones. known has what the directories before it list for each.
	IDs(ctx context.Context, subjects []homepage.Subject, known []gleaner.Person) ([]string, error)
	// Persons looks ids up; unknown ones are absent. On an error those found so
	// far are returned with it.
	Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error)
}

// personAge is how long an entry of a directory is valid.
const personAge = 30 * 24 * time.Hour

// directories returns all directories, the most trusted first.
func (s *Stages) directories() []Directory {
	if s.NoDBLPPeople || s.DBLP == nil {
		return s.Directories
	}
	return append([]Directory{dblpPeople{s.DBLP}}, s.Directories...)
}

// consult adds the directories' entries to subjects. DBLP must answer. Another directory that
// does not is left out, since its entries are optional.
func (s *Stages) consult(ctx context.Context, subjects []homepage.Subject) error {
	known := make([]gleaner.Person, len(subjects))
	for i, d := range s.directories() {
		ids, err := d.IDs(ctx, subjects, known)
		var people map[string]*gleaner.Person
		var gate metadata.ErrGate
		if err == nil {
			people, err = s.persons(ctx, d, ids)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (i == 0 && !s.NoDBLPPeople || errors.As(err, &gate)):
			return err
		case err != nil:
			s.Log.WarnContext(ctx, "a directory of people is left out", "directory", d.Name(), "error", err)
			for k := range subjects {
				leftOut(&subjects[k], d.Name(), err)
			}
		}
		for k, id := range ids {
			if p := people[id]; p != nil {
				metadata.AddPerson(&known[k], *p)
				list(&subjects[k], d.Name(), *p)
			}
		}
	}
	return nil
}

// leftOut notes a directory that did not answer for an author, if its failure may be
// transient.
func leftOut(sub *homepage.Subject, name string, err error) {
	if again, wait := passing(err); again {
		sub.Unanswered = append(sub.Unanswered, evidence.Unanswered{What: name, Kind: evidence.KindDirectory, Reason: err.Error(), RetryAfter: wait})
	}
}

func list(sub *homepage.Subject, source string, p gleaner.Person) {
	for _, u := range p.URLs {
		sub.Listed = append(sub.Listed, homepage.Listed{URL: u, Source: source})
	}
	for _, a := range p.Aliases {
		if !slices.Contains(sub.Aliases, a) {
			sub.Aliases = append(sub.Aliases, a)
		}
	}
}

// persons returns the entries on record, and queries the directory for the others.
func (s *Stages) persons(ctx context.Context, d Directory, ids []string) (map[string]*gleaner.Person, error) {
	wanted := slices.Compact(slices.Sorted(slices.Values(ids)))
	wanted = slices.DeleteFunc(wanted, func(id string) bool { return id == "" })
	kept, err := s.DB.Persons(ctx, d.Name(), wanted, personAge)
	if err != nil {
		return nil, err
	}
	open := each.Where(wanted, func(id string) bool { _, ok := kept[id]; return !ok })
	if len(open) == 0 {
		return kept, nil
	}
	found, askErr := d.Persons(ctx, open)
	entries := map[string]*gleaner.Person{}
	for id, p := range found {
		entries[id] = &p
	}
	if askErr == nil {
		for _, id := range open {
			if _, ok := entries[id]; !ok {
				entries[id] = nil
			}
		}
	}
	maps.Copy(kept, entries)
	// The entries are saved also if the worker is being stopped.
	return kept, errors.Join(askErr, s.DB.SavePersons(context.WithoutCancel(ctx), d.Name(), entries))
}

// dblpPeople are DBLP's pages of persons, by pid.
type dblpPeople struct{ dblp *metadata.DBLP }

func (d dblpPeople) Name() string { return "dblp" }

func (d dblpPeople) IDs(_ context.Context, subjects []homepage.Subject, _ []gleaner.Person) ([]string, error) {
	return each.Of(subjects, func(sub homepage.Subject) string { return sub.Author.PID }), nil
}

// Persons skips pages that cannot be decoded, so that one broken page does not affect the
// others.
func (d dblpPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	all, err := d.dblp.Persons(ctx, ids)
	var bad metadata.ErrBadAnswer
	if !errors.As(err, &bad) {
		return all, err
	}
	return all, eachPerson(ctx, ids, all, d.dblp.Person)
}

// eachPerson requests the persons missing in all, one after the other.
func eachPerson(ctx context.Context, ids []string, all map[string]gleaner.Person, ask func(context.Context, string) (gleaner.Person, error)) error {
	for _, id := range ids {
		if _, ok := all[id]; ok {
			continue
		}
		p, err := ask(ctx, id)
		var none metadata.ErrNotFound
		var bad metadata.ErrBadAnswer
		switch {
		case err == nil:
			all[id] = p
		case !errors.As(err, &none) && !errors.As(err, &bad):
			return err
		}
	}
	return nil
}

// ORCIDPeople are the public records of ORCID, by the iD that DBLP gives.
type ORCIDPeople struct{ ORCID *metadata.ORCID }

// Name is "orcid".
func (o ORCIDPeople) Name() string { return "orcid" }

// IDs returns the iDs that DBLP lists for the authors.
func (o ORCIDPeople) IDs(_ context.Context, subjects []homepage.Subject, known []gleaner.Person) ([]string, error) {
	ids := make([]string, len(subjects))
	for i := range subjects {
		ids[i] = known[i].ORCID()
	}
	return ids, nil
}

// Persons requests one record after the other.
func (o ORCIDPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	out := map[string]gleaner.Person{}
	return out, eachPerson(ctx, ids, out, o.ORCID.Person)
}

// SemanticScholarPeople are Semantic Scholar's authors, by their papers.
type SemanticScholarPeople struct{ API *metadata.SemanticScholar }

// Name is "semanticscholar".
func (o SemanticScholarPeople) Name() string { return "semanticscholar" }

// IDs looks up one paper of each author, all in one request.
func (o SemanticScholarPeople) IDs(ctx context.Context, subjects []homepage.Subject, _ []gleaner.Person) ([]string, error) {
	var papers []gleaner.Paper
	of := make([]int, len(subjects)) // place in papers + 1
	for i, sub := range subjects {
		if k := slices.IndexFunc(sub.Papers, func(p gleaner.Paper) bool { return p.DOI != "" || p.ArXiv != "" }); k >= 0 {
			papers = append(papers, sub.Papers[k])
			of[i] = len(papers)
		}
	}
	ids := make([]string, len(subjects))
	if len(papers) == 0 {
		return ids, nil
	}
	all, err := o.API.AuthorIDs(ctx, papers)
	if err != nil {
		return nil, err
	}
	for i, sub := range subjects {
		if of[i] == 0 || len(all[of[i]-1]) == 0 {
			continue
		}
		place := slices.IndexFunc(papers[of[i]-1].Authors, func(a gleaner.Author) bool { return a.ID() == sub.Author.ID() })
		if place >= 0 {
			ids[i] = all[of[i]-1][place]
		}
	}
	return ids, nil
}

// Persons requests all at once.
func (o SemanticScholarPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	return o.API.Persons(ctx, ids)
}

// Say saves a person's word about an author's homepage ("is" or "is-not") and applies it to
// the decision on record. It returns the running harvests of the author's papers that have
// finished the search for homepages.
func (h Homepages) Say(ctx context.Context, a gleaner.Author, url, word string) ([]store.Harvest, error) {
	if err := h.DB.SetOverride(ctx, a.ID(), url, word); err != nil {
		return nil, err
	}
	d, err := h.decision(ctx, a.ID())
	if err != nil {
		return nil, err
	}
	// A denial for an author without a decision must not look like a search without
	// result.
	if d.Author.Name != "" || word == "is" {
		if d.Author.Name == "" {
			d.Author = a
		}
		words, err := h.DB.Overrides(ctx, a.ID())
		if err != nil {
			return nil, err
		}
		if err := h.save(ctx, applyOverrides(d, words)); err != nil {
			return nil, err
		}
	}
	all, err := h.DB.HarvestsOf(ctx, a.ID())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h store.Harvest) bool { return h.Stage != gleaner.StageCrawl }), nil
}

// Forget removes people's words about an author (on one page, or all). The search result
// counts again; if it is empty, the next harvest searches again. Forget returns how many
// words it removed.
func (h Homepages) Forget(ctx context.Context, a gleaner.Author, url string) (int, error) {
	words, err := h.DB.Overrides(ctx, a.ID())
	if err != nil {
		return 0, err
	}
	n := 0
	for _, w := range words {
		if url != "" && w.URL != url {
			continue
		}
		if err := h.DB.SetOverride(ctx, a.ID(), w.URL, ""); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 {
		return 0, nil // there were none: the decision stays
	}
	d, err := h.decision(ctx, a.ID())
	if err != nil {
		return n, err
	}
	d.Homepages = slices.DeleteFunc(slices.Clone(d.Candidates), func(c evidence.Candidate) bool {
		return !c.Kept || c.Source == evidence.SourceListed+":user" // a candidate only since a person named it
	})
	if words, err = h.DB.Overrides(ctx, a.ID()); err != nil {
		return n, err
	}
	if d = applyOverrides(d, words); len(d.Homepages) == 0 {
		return n, h.DB.ForgetDecision(ctx, a.ID())
	}
	return n, h.save(ctx, d)
}

// Explained is everything on record about the search for an author's homepages.
type Explained struct {
	Author   gleaner.Author     `json:"author"`
	Looked   bool               `json:"looked"` // whether there was a search
	Words    []store.Override   `json:"words,omitempty"`
	Decision *evidence.Decision `json:"decision,omitempty"`
	Kept     []store.Homepage   `json:"homepages"`
	Papers   []gleaner.Paper    `json:"papers"`
}

// Explain reads it.
func (h Homepages) Explain(ctx context.Context, a gleaner.Author) (Explained, error) {
	e := Explained{Author: a}
	var err error
	if e.Words, err = h.DB.Overrides(ctx, a.ID()); err != nil {
		return e, err
	}
	if e.Kept, err = h.DB.HomepagesOf(ctx, []string{a.ID()}); err != nil {
		return e, err
	}
	if e.Papers, err = h.DB.PapersOf(ctx, a.ID()); err != nil {
		return e, err
	}
	d, err := h.decision(ctx, a.ID())
	if d.Author.Name != "" {
		e.Looked, e.Decision = true, &d
	}
	return e, err
}
