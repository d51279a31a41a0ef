package app

import (
	"fmt"
	"os"

	"gleaner/internal/config"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/homepage"
	"gleaner/internal/rank"
)

// fromFile reads what a setting names; the zero value where it names nothing. The
// error names setting and file.
func fromFile[T any](cfg *config.Config, key string, read func(*os.File) (T, error)) (out T, err error) {
	name := cfg.Text(key)
	if name == "" {
		return out, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return out, fmt.Errorf("config: %s: %w", key, err)
	}
	defer f.Close()
	if out, err = read(f); err != nil {
		return out, fmt.Errorf("config: %s: %s: %w", key, name, err)
	}
	return out, nil
}

// HomepageModel are the weights by which homepages are told; nil for those that
// come with the program.
func HomepageModel(cfg *config.Config) (*homepage.Model, error) {
	return fromFile(cfg, "homepage-model", func(f *os.File) (*homepage.Model, error) { return homepage.ReadModel(f) })
}

// Filter is the academic filter; nil where it is switched off.
func Filter(cfg *config.Config) (*document.Filter, error) {
	point := document.Point(cfg.Text("filter"))
	if point == "off" {
		return nil, nil
	}
	own, err := fromFile(cfg, "filter-model", func(f *os.File) (*document.Filter, error) { return document.LoadFilter(f, point) })
	if err != nil || own != nil {
		return own, err
	}
	return document.NewFilter(point), nil
}

// RankOptions are the lists and weights by which links are ranked.
func RankOptions(cfg *config.Config) (rank.Options, error) {
	var o rank.Options
	lists, err := rank.DefaultLists()
	if err != nil {
		return o, err
	}
	own, err := fromFile(cfg, "link-lists", func(f *os.File) (*rank.Lists, error) {
		data, err := os.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
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
	o.Prior, err = fromFile(cfg, "link-prior", func(f *os.File) (*rank.Prior, error) {
		data, err := os.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		p, err := rank.ParsePrior(data)
		return &p, err
	})
	if err != nil {
		return o, err
	}
	return o.Complete()
}

// Client is the polite client for a command without a database: paces hold within
// this process alone.
func Client(cfg *config.Config) (*fetch.Client, error) {
	fc, err := fetchConfig(cfg)
	if err != nil {
		return nil, err
	}
	return fetch.New(fc)
}
