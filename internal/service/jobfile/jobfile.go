package jobfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// ErrInput marks what is wrong with a file.
var ErrInput = errors.New("job file")

// The names of options that are more than one word, in place of the text of one.
const (
	kindName = "job"       // what the job does
	outName  = "out"       // where copies of documents go
	citing   = "source"    // who is asked for the citations of a whitelist
	paths    = "paths"     // of an import
	types    = "types"     // likewise
	hosts    = "blacklist" // likewise
)

// isList reports whether an option is a list of texts.
func isList(name string) bool { return name == paths || name == types || name == hosts }

// names are the options of a kind of job, in the order in which a file has them. That a
// cleaning removes what it lists stands in no file.
func names(kind string) []string {
	if kind == store.JobImport {
		return slices.Concat([]string{paths}, ingest.Fields(), []string{outName})
	}
	all := slices.DeleteFunc(slices.Clone(tables.Fields(kind)), func(name string) bool { return name == "confirm" })
	switch kind {
	case store.JobRetrieve:
		all = append(all, outName)
	case store.JobWhitelist:
		all = append(all, citing)
	}
	return all
}

// Kinds are the kinds of jobs that a file may describe.
func Kinds() []string { return append([]string{store.JobImport}, tables.Kinds()...) }

// Write is a job as a file.
func Write(job store.Job) ([]byte, error) {
	get, err := getter(job)
	if err != nil {
		return nil, err
	}
	doc := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) {
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	add(kindName, text(job.Kind))
	for _, name := range names(job.Kind) {
		value := get(name)
		switch {
		case len(value) == 0:
		case isList(name):
			list := &yaml.Node{Kind: yaml.SequenceNode}
			for _, v := range value {
				list.Content = append(list.Content, text(v))
			}
			add(name, list)
		case value[0] != "":
			add(name, text(value[0]))
		}
	}
	return yaml.Marshal(doc)
}

// text is a value as it stands in a file: in quotes where it would not be read as text,
// but for numbers, days and words such as on and yes, which are.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	none := n.ShortTag() == "!!null" // such as null and ~, which would be nothing
	if none || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\n\r\t:#{}[]&*!|>'\"%@`,?") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// getter gives the options of a job by their names.
func getter(job store.Job) (func(name string) []string, error) {
	if job.Kind != store.JobImport {
		o := tables.Defaults(job.Kind)
		err := json.Unmarshal(job.Options, &o)
		return func(name string) []string {
			switch name {
			case outName:
				return []string{o.To}
			case citing:
				return []string{o.Source}
			}
			return []string{o.Get(name)}
		}, err
	}
	var o ingest.Options
	err := json.Unmarshal(job.Options, &o)
	return func(name string) []string {
		if values, is := map[string][]string{paths: o.Paths, types: o.Types, outName: {o.To}, hosts: o.Blacklist}[name]; is {
			return values
		}
		return []string{o.Get(name)}
	}, err
}

// values are what a file has for a name: a text, or a list of them.
type values []string

// UnmarshalYAML implements yaml.Unmarshaler. A value is the text that stands there: on is
// no truth, and 2026-01-31 no time.
func (v *values) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		*v = values{n.Value}
		return nil
	case yaml.SequenceNode:
		for _, one := range n.Content {
			if one.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: want a list of texts", one.Line)
			}
			*v = append(*v, one.Value)
		}
		return nil
	}
	return fmt.Errorf("line %d: want a text or a list of texts", n.Line)
}

// maxFile bounds a job file; its list of hosts may be long.
const maxFile = 16 << 20

// Read reads a file: the kind of its job and the options, as [store.DB.AddJob] takes them.
// Paths are as they stand there.
func Read(r io.Reader) (kind string, options any, err error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return "", nil, err
	}
	if len(raw) > maxFile {
		return "", nil, fmt.Errorf("%w: it has more than %d bytes", ErrInput, maxFile)
	}
	var file map[string]values
	in := yaml.NewDecoder(bytes.NewReader(raw))
	if err := in.Decode(&file); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if in.Decode(new(yaml.Node)) != io.EOF {
		return "", nil, fmt.Errorf("%w: want one job in a file", ErrInput)
	}
	if v := file[kindName]; len(v) == 1 {
		kind = v[0]
	}
	if !slices.Contains(Kinds(), kind) {
		return "", nil, fmt.Errorf("%w: %s is one of %s, not %q", ErrInput, kindName, strings.Join(Kinds(), ", "), kind)
	}
	delete(file, kindName)
	for name, v := range file {
		switch {
		case !slices.Contains(names(kind), name):
			return "", nil, fmt.Errorf("%w: a job of kind %s has no option %q; it has %s", ErrInput, kind, name, strings.Join(names(kind), ", "))
		case len(v) > 1 && !isList(name):
			return "", nil, fmt.Errorf("%w: %s: want one text, not a list", ErrInput, name)
		}
	}
	if kind == store.JobImport {
		options, err = importOptions(file)
	} else {
		options, err = tableOptions(kind, file)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return kind, options, nil
}

func (v values) one() string {
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

func importOptions(file map[string]values) (ingest.Options, error) {
	o := ingest.Options{Paths: file[paths], To: file[outName].one()}
	for _, name := range ingest.Fields() {
		if err := o.Set(name, strings.Join(file[name], " ")); err != nil {
			return o, err
		}
	}
	return o, o.Check()
}

func tableOptions(kind string, file map[string]values) (tables.Options, error) {
	o := tables.Defaults(kind)
	for name, v := range file {
		switch name {
		case outName:
			o.To = v.one()
		case citing:
			if o.Source = v.one(); o.Source != "" && o.Source != tables.SemanticScholar {
				return o, fmt.Errorf("%s is %s, not %q", name, tables.SemanticScholar, o.Source)
			}
		default:
			if err := o.Set(kind, name, v.one()); err != nil {
				return o, err
			}
		}
	}
	return o, o.Check()
}
