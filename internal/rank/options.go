package rank

import (
	"errors"
	"fmt"
)

// The names of the strategies that New knows.
const (
	BreadthFirst = "bfs"     // in the order of discovery
	Zhuang       = "zhuang"  // three queues by keywords (Zhuang et al., JCDL 2005, §3.3)
	Gleaner      = "gleaner" // learns on the site which links pay; the default
)

// ErrUnknownStrategy is wrapped by New for a name that is none of Names.
var ErrUnknownStrategy = errors.New("rank: unknown strategy")

// Names lists the strategies, the default first.
func Names() []string { return []string{Gleaner, Zhuang, BreadthFirst} }

// Options tune a strategy. The zero value is the default of each.
type Options struct {
	// Lists are the word lists and the rules about addresses; nil for
	// DefaultLists.
	Lists *Lists
	// Prior is what gleaner believes before it has seen anything of a site;
	// nil for the one that ships with the program.
	Prior *Prior

	x *extractor // of Lists, made by WithDefaults
}

// WithDefaults sets lists and prior to the defaults where there are none. Whoever makes
// many strategies completes the options once.
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

// New makes the strategy of that name; "" is the default.
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
