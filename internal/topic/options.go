package topic

import "fmt"

// Options configures collections.
type Options struct {
	Results      int     `json:"results"`       // results of a search for a centroid
	LeastResults int     `json:"least_results"` // least number of them
	Terms        int     `json:"terms"`         // words of a centroid
	Overlap      int     `json:"overlap"`       // least number of words common to a page and a centroid
	Threshold    float64 `json:"threshold"`     // least correlation of a page of a topic
	Certainty    float64 `json:"certainty"`     // the same as score of a learnt classifier, above 0.5; 0 is Threshold
	Cutoff       float64 `json:"cutoff"`        // greatest number of consecutive off-topic pages on a path
	Size         int     `json:"size"`          // greatest number of entries of a collection, which then stops

	// Extensions proposed in the paper.
	Overlapping bool `json:"overlapping,omitempty"`  // a page belongs to every topic that it is like, not to the best alone
	LearnIDF    bool `json:"learn_idf,omitempty"`    // add crawled pages to document frequencies
	OffSite     bool `json:"off_site,omitempty"`     // links to other hosts first
	Distinct    bool `json:"distinct,omitempty"`     // neither collect nor follow near-duplicates
	OnePerSite  bool `json:"one_per_site,omitempty"` // only the best entry of each site
	Adapt       bool `json:"adapt,omitempty"`        // threshold and cutoff adapt; see Decide
}

// Defaults returns the options of the paper.
func Defaults() Options {
	return Options{Results: 7, LeastResults: 4, Terms: 20, Overlap: 4, Threshold: 0.3, Certainty: 0.5, Cutoff: 0, Size: 50}
}

// Check returns an error for invalid options, with the name of the flag.
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

// Likened maps the score of a learnt classifier to the scale of correlations, linearly below and
// above Certainty, which becomes Threshold. So pages of all topics and classifiers have one
// threshold and one order.
func (o Options) Likened(score float64) float64 {
	switch {
	case o.Certainty == 0 || o.Certainty == o.Threshold:
		return score
	case score < o.Certainty:
		return score / o.Certainty * o.Threshold
	}
	return o.Threshold + (score-o.Certainty)/(1-o.Certainty)*(1-o.Threshold)
}

// Progress is the state of a topic's collection.
type Progress struct {
	Entries int     `json:"entries"` // of different sites, with OnePerSite
	Worst   float64 `json:"worst"`   // the least correlation of an entry
}

// Verdict is the decision on a page.
type Verdict struct {
	Best     Score   // among topics that accept the page, else among all; zero without any
	Entries  []Score // collections that get the page
	Off      float64 // consecutive off-topic pages on the path to its links
	Follow   bool    // follow its links
	Priority float64 // of its links
}

// Decide returns the decision on a page with these scores, best first. off is the number of
// consecutive off-topic pages on its path, and standing returns the state of a collection.
//
// A full collection accepts no pages: a page belongs to the most similar topic whose collection
// accepts it (D §5.3). From the threshold on, the page is an entry and its links are followed.
// The links of an off-topic page are followed while its path has no more consecutive ones than
// the cutoff.
//
// With Adapt a full collection continues: its threshold is the correlation of its worst entry,
// which a better one replaces. And an off-topic page uses up the cutoff only by its distance from
// the threshold.
func (o Options) Decide(scores []Score, off float64, standing func(topic string) Progress) Verdict {
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

// LinkPriority returns the priority of a link on a page with a verdict: the page's correlation,
// and with OffSite links to other hosts first.
func (o Options) LinkPriority(v Verdict, offSite bool) float64 {
	if o.OffSite && offSite {
		return 1 + v.Priority
	}
	return v.Priority
}
