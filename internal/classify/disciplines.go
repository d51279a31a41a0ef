package classify

import (
	"fmt"

	"gleaner/internal/topic"
)

// Disciplines tell of what discipline a text is, each by a classifier of its own. They
// are safe for concurrent use.
type Disciplines struct {
	filter *topic.Filter
	names  []string // in the order in which they were added
	by     map[string]*Classifier
}

// NewDisciplines are none yet.
func NewDisciplines(f *topic.Filter) *Disciplines {
	return &Disciplines{filter: f, by: map[string]*Classifier{}}
}

// Add takes the classifier of a discipline, as 'lab train topic' writes it.
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

// Best is the discipline that a text is most surely of, and how surely, from 0 to 1; ""
// where the text has hardly a word that any of them knows.
func (d *Disciplines) Best(title, text string) (name string, sure float64) {
	words := Words(d.filter, topic.Page{Title: title, Text: text})
	for _, n := range d.names {
		if s := d.by[n].sure(nil, "", words); s > sure {
			name, sure = n, s
		}
	}
	return name, sure
}
