package harvest

import (
	"context"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/store"
)

// Say keeps a person's word about an author's homepage (is, or is-not) and lets
// it count at once: in the record, and in the frontier of every harvest under way
// that is past looking for homepages. It returns those harvests.
func (s *Stages) Say(ctx context.Context, a gleaner.Author, url, word string) ([]store.Harvest, error) {
	if err := s.DB.SetOverride(ctx, a.ID(), url, word); err != nil {
		return nil, err
	}
	d, err := s.decision(ctx, a.ID())
	if err != nil {
		return nil, err
	}
	// Of an author who was not looked for, only a page is known: a denial alone
	// must not pass for a search.
	if d.Author.Name != "" || word == "is" {
		if d.Author.Name == "" {
			d.Author = a
		}
		words, err := s.DB.Overrides(ctx, a.ID())
		if err != nil {
			return nil, err
		}
		if err := s.save(ctx, heed(d, words)); err != nil {
			return nil, err
		}
	}
	all, err := s.DB.HarvestsOf(ctx, a.ID())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h store.Harvest) bool { return h.Stage != gleaner.StageCrawl }), nil
}

// Forget takes a person's words about an author back (of one page, or all). What was
// found counts again; an author for whom nothing was found is looked for by the next
// harvest. It returns how many words there were.
func (s *Stages) Forget(ctx context.Context, a gleaner.Author, url string) (int, error) {
	words, err := s.DB.Overrides(ctx, a.ID())
	if err != nil {
		return 0, err
	}
	n := 0
	for _, w := range words {
		if url != "" && w.URL != url {
			continue
		}
		if err := s.DB.SetOverride(ctx, a.ID(), w.URL, ""); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 {
		return 0, nil // nobody said anything: what was found stays
	}
	d, err := s.decision(ctx, a.ID())
	if err != nil {
		return n, err
	}
	d.Homepages = slices.DeleteFunc(slices.Clone(d.Candidates), func(c evidence.Candidate) bool {
		return !c.Kept || c.Source == evidence.SourceListed+":user" // looked at since a person named it
	})
	if words, err = s.DB.Overrides(ctx, a.ID()); err != nil {
		return n, err
	}
	if d = heed(d, words); len(d.Homepages) == 0 {
		return n, s.DB.ForgetDecision(ctx, a.ID())
	}
	return n, s.save(ctx, d)
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
func (s *Stages) Explain(ctx context.Context, a gleaner.Author) (Explained, error) {
	e := Explained{Author: a}
	var err error
	if e.Words, err = s.DB.Overrides(ctx, a.ID()); err != nil {
		return e, err
	}
	if e.Kept, err = s.DB.HomepagesOf(ctx, []string{a.ID()}); err != nil {
		return e, err
	}
	if e.Papers, err = s.DB.PapersOf(ctx, a.ID()); err != nil {
		return e, err
	}
	d, err := s.decision(ctx, a.ID())
	if d.Author.Name != "" {
		e.Looked, e.Decision = true, &d
	}
	return e, err
}
