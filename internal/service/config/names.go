package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
)

// environment is the environment by name. What is empty is not given.
type environment map[string]string

func newEnvironment(environ []string) environment {
	e := environment{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			e[name] = value
		}
	}
	return e
}

// names maps variables to settings. What is called as Temporal's own programs
// call it has a name of ours as well.
func names(of []Setting) map[string]string {
	all := map[string]string{}
	for _, s := range of {
		all[s.Env], all[variable(s.Key)] = s.Key, s.Key
		if s.Secret {
			all[s.FileEnv()] = s.FileKey()
		}
	}
	return all
}

// settings are those of the environment; a name of ours goes before Temporal's.
func (e environment) settings(all []Setting) *koanf.Koanf {
	known, k := names(all), koanf.New(".")
	_ = k.Load(env.Provider("", env.Opt{
		EnvironFunc: func() (pairs []string) {
			for _, name := range slices.Sorted(maps.Keys(e)) {
				pairs = append(pairs, name+"="+e[name])
			}
			return pairs
		},
		TransformFunc: func(name, value string) (string, any) {
			key := known[name]
			if ours := variable(key); name != ours && e[ours] != "" {
				return "", nil
			}
			return key, value
		},
	}), nil)
	return k
}

// misspelt refuses variables with our prefix whose name is almost a setting's. Others
// may be somebody else's, who calls a service "gleaner", say.
func (e environment) misspelt(all []Setting) (err error) {
	known := names(all)
	for _, name := range slices.Sorted(maps.Keys(e)) {
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || known[name] != "" || strings.HasPrefix(e[name], "tcp://") { // Kubernetes names a service's port so
			continue
		}
		key := strings.ToLower(strings.ReplaceAll(rest, "_", "-"))
		of := slices.IndexFunc(PolicySettings(), func(s Setting) bool { return strings.HasSuffix(s.Key, "."+key) })
		if of >= 0 {
			err = errors.Join(err, fmt.Errorf("config: %s (from environment): %s", name, unknown(PolicySettings()[of].Key, nil)))
			continue
		}
		if like := nearest(name, slices.Collect(maps.Keys(known)), max(1, len(key)/5)); like != "" {
			err = errors.Join(err, fmt.Errorf("config: %s (%s, from environment): no setting is called so; did you mean %s?", key, name, like))
		}
	}
	return err
}

// IsVariable reports whether the environment's name is a setting's.
func IsVariable(name string) bool { return names(Settings())[name] != "" }

// keysOf are the names that settings have in a file and as flags.
func keysOf(all []Setting) (keys []string) {
	for _, s := range all {
		keys = append(keys, s.Key)
		if s.Secret {
			keys = append(keys, s.FileKey())
		}
	}
	return keys
}

// unknown explains a key that no setting has: it belongs in the policy file, or is
// a misspelling of another key.
func unknown(key string, keys []string) string {
	for _, s := range PolicySettings() {
		if key == s.Key {
			section, name, _ := strings.Cut(key, ".")
			return fmt.Sprintf("this belongs in the policy file, as %q under %q: write one with `starter config init --write-policy`, "+
				"and name it in the setting policy (%s)", name, section, variable("policy"))
		}
	}
	if like := Nearest(key, keys); like != "" {
		return fmt.Sprintf("no setting is called %q; did you mean %s?", key, like)
	}
	return fmt.Sprintf("no setting is called %q; `starter config` lists them", key)
}

// Nearest is the name that is spelt most like one; "" if none is like it.
func Nearest(name string, among []string) string {
	return nearest(name, among, max(2, len(name)/3))
}

// nearest is the name that is spelt most like one, if at most so many letters
// are wrong, missing, too many or swapped.
func nearest(name string, among []string, most int) string {
	best := ""
	for _, a := range slices.Sorted(slices.Values(among)) {
		if d := distance(name, a); d <= most {
			best, most = a, d-1
		}
	}
	return best
}

// distance counts the letters by which two words differ (Damerau and Levenshtein,
// neighbours swapped at most once).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
