package metadata

// CopySources returns the sources of copies that cfg allows, and by name why the
// others cannot be used: they want a key or a contact. Crossref is not among
// them: its licensed full texts are known to Unpaywall and OpenAlex too, at less
// than one request a paper.
func CopySources(cfg Config) (sources []CopySource, unusable map[string]error) {
	cfg = cfg.withDefaults()
	unusable = map[string]error{}
	sources = []CopySource{NewLinks(cfg), NewSemanticScholar(cfg), NewArXiv(cfg)}
	if u := NewUnpaywall(cfg); u.usable() == nil {
		sources = append(sources, u)
	} else {
		unusable[u.Name()] = u.usable()
	}
	if o := NewOpenAlex(cfg); o.keyless() == nil {
		sources = append(sources, o)
	} else {
		unusable[o.Name()] = o.keyless()
	}
	return sources, unusable
}

// Sources returns the sources that can list a venue, DBLP first, in the order of
// trust in which Merge expects them. Those that cannot say which venue is meant
// answer with ErrNotCovered; OpenAlex is left out without its key.
func Sources(cfg Config) []Source {
	cfg = cfg.withDefaults()
	out := []Source{NewDBLP(cfg).AsSource(), NewACL(cfg), NewCrossref(cfg)}
	if cfg.OpenAlexKey != "" {
		out = append(out, NewOpenAlex(cfg))
	}
	return out
}
