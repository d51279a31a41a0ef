package rank

import (
	"errors"
	"fmt"
)

// The names of the strategies that New knows.
const (
	BreadthFirst = "bfs"     // in the order of discovery
	Zhuang       = "zhuang"  // three queues by keywords (Zhuang et al., JCDL 2005, §3.3)
	Gleaner      = "gleaner" // learns on the site which links lead to papers; the default
)

// ErrUnknownStrategy is wrapped by the error of New for a name not in Names.
var ErrUnknownStrategy = errors.New("rank: unknown strategy")

// Names returns the strategies, the default first.
func Names() []string { return []string{Gleaner, Zhuang, BreadthFirst} }

// Options configures a strategy. The zero value selects the defaults.
type Options struct {
	// Lists are the word lists and the rules about addresses; nil for
	// DefaultLists.
	Lists *Lists
	// Prior holds the weights of gleaner at the start of a site; nil for the one that ships with
	// the program.
	Prior *Prior

	x *extractor // of Lists, made by WithDefaults
}

// WithDefaults returns options with default lists and prior where they are nil. Callers that make
// many strategies call it once.
func (o Options) WithDefaults() (Options, error) {
	if o.Lists == nil {
		l, err := DefaultLists()
		if err != nil {
			return o, err
		}
		o.Lists = &l
	}
	if o.Prior == nil {
		p, err := ParsePrior(defaultPrior)
		if err != nil {
			return o, err
		}
		o.Prior = &p
	}
	var err error
	if o.x == nil || o.x.of != o.Lists {
		o.x, err = newExtractor(o.Lists)
	}
	return o, err
}

// New returns the strategy of that name; "" is the default.
func New(name string, opts Options) (Strategy, error) {
	opts, err := opts.WithDefaults()
	if err != nil {
		return nil, err
	}
	switch name {
	case BreadthFirst:
		return bfs{}, nil
	case Zhuang:
		return &zhuang{lists: *opts.Lists}, nil
	case Gleaner, "":
		return newGleaner(opts), nil
	}
	return nil, fmt.Errorf("%w %q: want one of %v", ErrUnknownStrategy, name, Names())
}
