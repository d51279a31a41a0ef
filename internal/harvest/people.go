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

// Directory knows people by an identifier of its own.
type Directory interface {
	// Name is "dblp", "orcid", "semanticscholar".
	Name() string
	// IDs names the authors of the subjects as the directory does, "" where it
	// cannot; known is what the directories before it said of each.
	IDs(ctx context.Context, subjects []homepage.Subject, known []gleaner.Person) ([]string, error)
	// Persons looks ids up; unknown ones are absent. On an error those found so
	// far are returned with it.
	Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error)
}

// personAge is for how long a directory is not asked for a person again.
const personAge = 30 * 24 * time.Hour

// directories are all that are asked, the most trusted first.
func (s *Stages) directories() []Directory {
	if s.NoDBLPPeople || s.DBLP == nil {
		return s.Directories
	}
	return append([]Directory{dblpPeople{s.DBLP}}, s.Directories...)
}

// consult adds to subjects what the directories list of them. DBLP must answer;
// another directory that does not is left out, since its word only adds.
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

// leftOut notes that a directory is still to be asked of an author, where asking
// again may help.
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

// persons answers from the record, and asks the directory for the rest.
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
	said := map[string]*gleaner.Person{}
	for id, p := range found {
		said[id] = &p
	}
	if askErr == nil {
		for _, id := range open {
			if _, ok := said[id]; !ok {
				said[id] = nil
			}
		}
	}
	maps.Copy(kept, said)
	// What was asked is kept also when the worker is being stopped.
	return kept, errors.Join(askErr, s.DB.SavePersons(context.WithoutCancel(ctx), d.Name(), said))
}

// dblpPeople are DBLP's pages of persons, by pid.
type dblpPeople struct{ dblp *metadata.DBLP }

func (d dblpPeople) Name() string { return "dblp" }

func (d dblpPeople) IDs(_ context.Context, subjects []homepage.Subject, _ []gleaner.Person) ([]string, error) {
	return each.Of(subjects, func(sub homepage.Subject) string { return sub.Author.PID }), nil
}

// Persons passes over a page that cannot be read: one broken record must not keep
// the others from being looked up.
func (d dblpPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	all, err := d.dblp.Persons(ctx, ids)
	var bad metadata.ErrBadAnswer
	if !errors.As(err, &bad) {
		return all, err
	}
	return all, eachPerson(ctx, ids, all, d.dblp.Person)
}

// eachPerson asks for the records that all has not, one after the other.
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

// IDs are what DBLP knows of the authors.
func (o ORCIDPeople) IDs(_ context.Context, subjects []homepage.Subject, known []gleaner.Person) ([]string, error) {
	ids := make([]string, len(subjects))
	for i := range subjects {
		ids[i] = known[i].ORCID()
	}
	return ids, nil
}

// Persons asks for one record after the other.
func (o ORCIDPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	out := map[string]gleaner.Person{}
	return out, eachPerson(ctx, ids, out, o.ORCID.Person)
}

// SemanticScholarPeople are Semantic Scholar's authors, by their papers.
type SemanticScholarPeople struct{ API *metadata.SemanticScholar }

// Name is "semanticscholar".
func (o SemanticScholarPeople) Name() string { return "semanticscholar" }

// IDs looks one paper of each author up, all in one request.
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

// Persons asks for all at once.
func (o SemanticScholarPeople) Persons(ctx context.Context, ids []string) (map[string]gleaner.Person, error) {
	return o.API.Persons(ctx, ids)
}

// Say keeps a person's word about an author's homepage (is, or is-not) and lets
// it count at once: in the record, and in the frontier of every harvest under way
// that is past looking for homepages. It returns those harvests.
func (h Homepages) Say(ctx context.Context, a gleaner.Author, url, word string) ([]store.Harvest, error) {
	if err := h.DB.SetOverride(ctx, a.ID(), url, word); err != nil {
		return nil, err
	}
	d, err := h.decision(ctx, a.ID())
	if err != nil {
		return nil, err
	}
	// Of an author who was not looked for, only a page is known: a denial alone
	// must not pass for a search.
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

// Forget takes a person's words about an author back (of one page, or all). What was
// found counts again; an author for whom nothing was found is looked for by the next
// harvest. It returns how many words there were.
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
		return 0, nil // nobody said anything: what was found stays
	}
	d, err := h.decision(ctx, a.ID())
	if err != nil {
		return n, err
	}
	d.Homepages = slices.DeleteFunc(slices.Clone(d.Candidates), func(c evidence.Candidate) bool {
		return !c.Kept || c.Source == evidence.SourceListed+":user" // looked at since a person named it
	})
	if words, err = h.DB.Overrides(ctx, a.ID()); err != nil {
		return n, err
	}
	if d = applyOverrides(d, words); len(d.Homepages) == 0 {
		return n, h.DB.ForgetDecision(ctx, a.ID())
	}
	return n, h.save(ctx, d)
}

// Explained is all that is known of how an author's homepages were found.
type Explained struct {
	Author   gleaner.Author     `json:"author"`
	Looked   bool               `json:"looked"` // whether they were looked for
	Words    []store.Override   `json:"words,omitempty"`
	Decision *evidence.Decision `json:"decision,omitempty"`
	Kept     []store.Homepage   `json:"homepages"`
	Papers   []gleaner.Paper    `json:"papers"`
}

// Explain gathers it.
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
