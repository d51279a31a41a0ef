package topic

import "fmt"

// Options are how collections are made; Defaults is where to begin.
type Options struct {
	Results      int     `json:"results"`       // of a search that make a centroid
	LeastResults int     `json:"least_results"` // with fewer there is none
	Terms        int     `json:"terms"`         // words of a centroid
	Overlap      int     `json:"overlap"`       // words that a page and a centroid have in common, at least
	Threshold    float64 `json:"threshold"`     // correlation from which a page belongs to a topic
	Certainty    float64 `json:"certainty"`     // score of a learnt classifier from which one does, which is more likely than not; 0 is Threshold
	Cutoff       float64 `json:"cutoff"`        // off-topic pages in a row that a path may hold
	Size         int     `json:"size"`          // entries of a collection; it stops when it is full

	// What the paper's authors wished for.
	Overlapping bool `json:"overlapping,omitempty"`  // a page belongs to every topic that it is like, not to the best alone
	LearnIDF    bool `json:"learn_idf,omitempty"`    // document frequencies are those of the crawled pages, too
	OffSite     bool `json:"off_site,omitempty"`     // links to other hosts first
	Distinct    bool `json:"distinct,omitempty"`     // near-duplicates are neither collected nor followed
	OnePerSite  bool `json:"one_per_site,omitempty"` // a collection has one entry of a site, the best
	Adapt       bool `json:"adapt,omitempty"`        // threshold and cutoff adapt; see Decide
}

// Defaults are those of the paper.
func Defaults() Options {
	return Options{Results: 7, LeastResults: 4, Terms: 20, Overlap: 4, Threshold: 0.3, Certainty: 0.5, Cutoff: 0, Size: 50}
}

// Check says what of the options cannot be, by the name of its flag.
func (o Options) Check() error {
	switch {
	case o.Results < 1 || o.Results > 100:
		return fmt.Errorf("results: %d is not between 1 and 100", o.Results)
	case o.LeastResults < 1 || o.LeastResults > o.Results:
		return fmt.Errorf("least-results: %d is not between 1 and --results (%d)", o.LeastResults, o.Results)
	case o.Terms < 1:
		return fmt.Errorf("terms: %d is not positive", o.Terms)
	case o.Overlap < 1 || o.Overlap > o.Terms:
		return fmt.Errorf("overlap: %d is not between 1 and --terms (%d)", o.Overlap, o.Terms)
	case !(o.Threshold > 0 && o.Threshold <= 1):
		return fmt.Errorf("threshold: %v is not above 0 and at most 1", o.Threshold)
	case !(o.Certainty > 0 && o.Certainty < 1):
		return fmt.Errorf("certainty: %v is not above 0 and below 1", o.Certainty)
	case !(o.Cutoff >= 0):
		return fmt.Errorf("cutoff: %v is negative", o.Cutoff)
	case o.Size < 1:
		return fmt.Errorf("size: %d is not positive", o.Size)
	}
	return nil
}

// Likened lays the score of a learnt classifier on the scale of correlations, straight
// below Certainty and above it, so that Certainty is Threshold there: what is sure enough
// is on topic, whatever said so, and one topic's pages are put in order with another's.
func (o Options) Likened(score float64) float64 {
	switch {
	case o.Certainty == 0 || o.Certainty == o.Threshold:
		return score
	case score < o.Certainty:
		return score / o.Certainty * o.Threshold
	}
	return o.Threshold + (score-o.Certainty)/(1-o.Certainty)*(1-o.Threshold)
}

// Standing is how far a topic's collection is.
type Standing struct {
	Entries int     `json:"entries"` // of different sites, with OnePerSite
	Worst   float64 `json:"worst"`   // the least correlation of an entry
}

// Verdict is what follows from what a page is like.
type Verdict struct {
	Best     Score   // of the topics that take the page, else of all; zero for a page that is like no topic
	Entries  []Score // the collections that it is for
	Off      float64 // off-topic pages in a row on the way to what it links to
	Follow   bool    // its links are taken
	Priority float64 // of its links
}

// Decide says what becomes of a page by what it is like, best first; off is how much
// was off topic in a row on the way to it, and standing how far a collection is.
//
// A full collection takes no more: a page belongs to the most similar topic whose
// collection still takes it (D §5.3). From the threshold on the page is an entry of it and
// its links are followed. The links of an off-topic page are followed while its path has no
// more such pages than the cutoff.
//
// With Adapt a full collection goes on: its threshold is the correlation of its worst
// entry, which a better one replaces. And an off-topic page takes of the cutoff only what
// it is short of the threshold.
func (o Options) Decide(scores []Score, off float64, standing func(topic string) Standing) Verdict {
	v := Verdict{}
	for _, s := range scores {
		if s.Correlation < o.Threshold || len(v.Entries) > 0 && !o.Overlapping {
			break
		}
		if at := standing(s.Topic); at.Entries < o.Size || o.Adapt && s.Correlation > at.Worst {
			v.Entries = append(v.Entries, s)
		}
	}
	switch {
	case len(v.Entries) > 0:
		v.Best = v.Entries[0]
	case len(scores) > 0:
		v.Best = scores[0]
	}
	v.Priority = v.Best.Correlation
	if v.Best.Correlation >= o.Threshold {
		v.Follow = len(v.Entries) > 0 || o.Adapt
		return v
	}
	step := 1.0
	if o.Adapt {
		step = 1 - v.Best.Correlation/o.Threshold
	}
	v.Off = off + step
	v.Follow = v.Off <= o.Cutoff
	return v
}

// LinkPriority is how soon a link is asked for that stands on a page of a verdict: in
// the order of that page's correlation, with OffSite those to other hosts before all
// others.
func (o Options) LinkPriority(v Verdict, offSite bool) float64 {
	if o.OffSite && offSite {
		return 1 + v.Priority
	}
	return v.Priority
}
