package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gopkg.in/yaml.v3"
)

// readYAML reads a file of settings or of policy, with every value as the text
// that stands there: a release called 2026.10 is no number.
func readYAML(name string) (map[string]any, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var top map[string]node
	if err := yaml.NewDecoder(file).Decode(&top); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return values(top), nil
}

// node is a value of YAML: text, a list of texts, or names with values.
type node struct{ value any }

func (n *node) UnmarshalYAML(y *yaml.Node) error {
	switch y.Kind {
	case yaml.MappingNode:
		var m map[string]node
		if err := y.Decode(&m); err != nil {
			return err
		}
		n.value = values(m)
	case yaml.SequenceNode:
		var list []node
		if err := y.Decode(&list); err != nil {
			return err
		}
		texts := make([]any, len(list))
		for i, one := range list {
			texts[i] = one.value
		}
		n.value = texts
	default:
		n.value = y.Value
	}
	return nil
}

// values leaves out names without a value.
func values(m map[string]node) map[string]any {
	out := map[string]any{}
	for name, n := range m {
		if n.value != nil {
			out[name] = n.value
		}
	}
	return out
}
