package classify

import (
	"fmt"

	"gleaner/internal/topic"
)

// Disciplines classifies texts by discipline, with a classifier for each. It is safe for
// concurrent use.
type Disciplines struct {
	filter *topic.Filter
	names  []string // in the order in which they were added
	by     map[string]*Classifier
}

// NewDisciplines returns an empty set.
func NewDisciplines(f *topic.Filter) *Disciplines {
	return &Disciplines{filter: f, by: map[string]*Classifier{}}
}

// Add adds the classifier of a discipline, as written by 'lab train topic'.
func (d *Disciplines) Add(name string, data []byte) error {
	if name == "" || d.by[name] != nil {
		return fmt.Errorf("%q is no name of a discipline, or stands there twice", name)
	}
	k, err := Parse(data)
	if err != nil {
		return err
	}
	k.Pages = nil
	d.names, d.by[name] = append(d.names, name), k
	return nil
}

// Best returns the most probable discipline of a text and its probability from 0 to 1, or "" for
// a text with hardly any known words.
func (d *Disciplines) Best(title, text string) (name string, sure float64) {
	words := Words(d.filter, topic.Page{Title: title, Text: text})
	for _, n := range d.names {
		if s := d.by[n].sure(nil, "", words); s > sure {
			name, sure = n, s
		}
	}
	return name, sure
}
