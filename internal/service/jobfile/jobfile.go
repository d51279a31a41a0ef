package jobfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gleaner/internal/harvest/tables"
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

// names are the options of a kind of job, in the order in which a file has them.
func names(kind string) []string {
	all := Fields(kind)
	switch kind {
	case store.JobImport:
		all = slices.Concat([]string{paths}, all, []string{outName})
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
	o, err := Of(job)
	if err != nil {
		return nil, err
	}
	doc := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) {
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	add(kindName, text(job.Kind))
	for _, name := range names(job.Kind) {
		value := o.inFile(name)
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

// inFile are the values of an option as a file has them.
func (o *Options) inFile(name string) values {
	switch name {
	case paths:
		return o.Import.Paths
	case types:
		return o.Import.Types
	case hosts:
		return o.Import.Blacklist
	case outName:
		return values{*o.To()}
	case citing:
		return values{o.Table.Source}
	}
	return values{o.Get(name)}
}

// setInFile sets an option to what a file has for it.
func (o *Options) setInFile(name string, v values) error {
	one := strings.Join(v, " ")
	switch name {
	case paths:
		o.Import.Paths = v
	case outName:
		*o.To() = one
	case citing:
		if o.Table.Source = one; one != "" && one != tables.SemanticScholar {
			return fmt.Errorf("%s is %s, not %q", name, tables.SemanticScholar, one)
		}
	default:
		return o.Set(name, one)
	}
	return nil
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
func Read(r io.Reader) (kind string, options *Options, err error) {
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
	options = New(kind)
	for name, v := range file {
		switch {
		case !slices.Contains(names(kind), name):
			err = fmt.Errorf("a job of kind %s has no option %q; it has %s", kind, name, strings.Join(names(kind), ", "))
		case len(v) > 1 && !isList(name):
			err = fmt.Errorf("%s: want one text, not a list", name)
		default:
			err = options.setInFile(name, v)
		}
		if err != nil {
			return "", nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	if err := options.Check(); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return kind, options, nil
}
