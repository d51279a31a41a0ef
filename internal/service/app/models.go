package app

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/homepage"
	"gleaner/internal/rank"
	"gleaner/internal/service/config"
	"gleaner/internal/topic"
)

// fromFile reads what the policy names under models; the zero value where it names
// nothing. The error names both.
func fromFile[T any](key, name string, read func([]byte) (T, error)) (out T, err error) {
	if name == "" {
		return out, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return out, fmt.Errorf("config: models.%s: %w", key, err)
	}
	if out, err = read(data); err != nil {
		return out, fmt.Errorf("config: models.%s: %s: %w", key, name, err)
	}
	return out, nil
}

// homepageModel are the weights by which homepages are told; nil for those that
// come with the program.
func homepageModel(cfg *config.Config) (*homepage.Model, error) {
	return fromFile("homepage", cfg.Policy.Models.Homepage, func(data []byte) (*homepage.Model, error) {
		return homepage.ReadModel(bytes.NewReader(data))
	})
}

// Filter is the academic filter; nil where it is switched off.
func Filter(cfg *config.Config) (*document.Filter, error) {
	if cfg.Documents.Filter == "off" {
		return nil, nil
	}
	point := document.Point(cfg.Documents.Filter)
	own, err := fromFile("filter", cfg.Policy.Models.Filter, func(data []byte) (*document.Filter, error) {
		return document.LoadFilter(bytes.NewReader(data), point)
	})
	if err != nil || own != nil {
		return own, err
	}
	return document.NewFilter(point), nil
}

// Disciplines are those of which documents are to be; nil where all are taken.
func Disciplines(cfg *config.Config) (*classify.Disciplines, error) {
	if len(cfg.Policy.Models.Disciplines) == 0 {
		return nil, nil
	}
	stops, err := topic.DefaultStops()
	if err != nil {
		return nil, err
	}
	out := classify.NewDisciplines(topic.NewFilter(stops))
	for _, one := range cfg.Policy.Models.Disciplines {
		name, file, ok := strings.Cut(one, "=")
		if !ok || file == "" {
			return nil, fmt.Errorf("config: models.disciplines: %q is not NAME=FILE", one)
		}
		_, err := fromFile("disciplines", file, func(data []byte) (*classify.Disciplines, error) { return out, out.Add(name, data) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RankOptions are the lists and weights by which links are ranked.
func RankOptions(cfg *config.Config) (rank.Options, error) {
	var o rank.Options
	lists, err := rank.DefaultLists()
	if err != nil {
		return o, err
	}
	own, err := fromFile("link-lists", cfg.Policy.Models.LinkLists, func(data []byte) (*rank.Lists, error) {
		l, err := rank.ParseLists(data)
		return &l, err
	})
	if err != nil {
		return o, err
	}
	if own != nil {
		lists = lists.Override(*own)
		o.Lists = &lists
	}
	o.Prior, err = fromFile("link-prior", cfg.Policy.Models.LinkPrior, func(data []byte) (*rank.Prior, error) {
		p, err := rank.ParsePrior(data)
		return &p, err
	})
	if err != nil {
		return o, err
	}
	return o.WithDefaults()
}

// Client is the polite client for a command without a database: paces hold within
// this process alone.
func Client(cfg *config.Config) (*fetch.Client, error) {
	fc := fetchConfig(cfg)
	fc.Memory = bodies()
	return fetch.New(fc)
}
