package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// Load gathers the settings. flags maps keys to what was given on the command
// line; file is the settings file, "" for the default place, where it may be
// missing; environ is the environment, as os.Environ gives it. Its errors name
// the setting, its variable, and where the value is from.
func Load(flags map[string]string, file string, environ []string) (*Config, error) {
	env := newEnvironment(environ)
	fromFile, err := settingsFile(file, env)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	fromFlags := map[string]any{}
	for key, value := range flags {
		fromFlags[key] = value
	}
	c, all := &Config{origins: map[string]string{}}, Settings()
	given, err := defaults(all), env.misspelt(all)
	for _, l := range []level{fromFile, {"environment", env.settings(all)}, {"flag", load(fromFlags)}} {
		err = errors.Join(err, l.check(all), l.reveal(all), c.take(l, given))
	}
	if err = errors.Join(err, c.fill(c, given)); err != nil {
		return nil, err
	}
	if c.Servers.DataDir == "" {
		c.Servers.DataDir = defaultDataDir(env)
	}
	if err := c.loadPolicy(); err != nil {
		return nil, err
	}
	return c, nil
}

// level is one place where settings stand; a later one wins over an earlier.
type level struct {
	name   string
	values *koanf.Koanf
}

// load makes a level's values; what is in memory cannot fail to be read.
func load(values map[string]any) *koanf.Koanf {
	k := koanf.New(".")
	_ = k.Load(confmap.Provider(values, "."), nil)
	return k
}

func defaults(of []Setting) *koanf.Koanf {
	values := map[string]any{}
	for _, s := range of {
		values[s.Key] = s.Default
	}
	return load(values)
}

// check refuses keys that no setting has.
func (l level) check(all []Setting) (err error) {
	keys := keysOf(all)
	for _, key := range l.values.Keys() {
		if !slices.Contains(keys, key) {
			err = errors.Join(err, fmt.Errorf("config: %s (from %s): %s", key, l.name, unknown(key, keys)))
		}
	}
	return err
}

// reveal puts the secrets of the files that a level names where they would stand
// themselves.
func (l level) reveal(all []Setting) (err error) {
	for _, s := range all {
		file := l.values.String(s.FileKey())
		if !s.Secret || file == "" {
			continue
		}
		fault := func(err error) error {
			return fmt.Errorf("config: %s (%s, from %s): %w", s.FileKey(), s.FileEnv(), l.name, err)
		}
		if l.values.String(s.Key) != "" {
			err = errors.Join(err, fault(fmt.Errorf("both %s and %s are given", s.Key, s.FileKey())))
			continue
		}
		raw, wrong := os.ReadFile(file)
		if wrong != nil {
			err = errors.Join(err, fault(wrong))
			continue
		}
		err = errors.Join(err, l.values.Set(s.Key, strings.TrimSpace(string(raw))))
	}
	return err
}

// take lays a level over those before it, and notes what is from there.
func (c *Config) take(l level, given *koanf.Koanf) error {
	for _, key := range l.values.Keys() {
		c.origins[key] = l.name
		if file := l.values.String(key + "-file"); file != "" {
			c.origins[key] = l.name + ", " + file
		}
	}
	return given.Merge(l.values)
}

// fill decodes what is given into the fields of c or of its policy.
func (c *Config) fill(into any, given *koanf.Koanf) (err error) {
	for s, field := range fields(into) {
		if wrong := s.decode(given.Get(s.Key), field); wrong != nil {
			err = errors.Join(err, fmt.Errorf("config: %s: %w", s.at(c.Origin(s.Key)), wrong))
		}
	}
	return err
}

// at names a setting, its variable, and where its value is from.
func (s Setting) at(origin string) string {
	if s.Env == "" {
		return fmt.Sprintf("%s (from %s)", s.Key, origin)
	}
	return fmt.Sprintf("%s (%s, from %s)", s.Key, s.Env, origin)
}

// settingsFile reads the settings file: the one named, the one that the
// environment names, or the one in the default place.
func settingsFile(file string, env environment) (level, error) {
	if file == "" {
		file = env["GLEANER_CONFIG"]
	}
	named := file != ""
	if !named {
		file = DefaultFile()
	}
	values, err := readYAML(file)
	if err != nil && (named || !errors.Is(err, fs.ErrNotExist)) {
		return level{}, err
	}
	return level{"file:" + file, load(values)}, nil
}

// DefaultFile is the settings file that is read where none is named.
func DefaultFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "gleaner.yaml"
	}
	return filepath.Join(dir, "gleaner", "gleaner.yaml")
}

func defaultDataDir(env environment) string {
	if d := env["XDG_DATA_HOME"]; d != "" {
		return filepath.Join(d, "gleaner")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".gleaner"
	}
	return filepath.Join(home, ".local", "share", "gleaner")
}

// loadPolicy reads the file that the settings name over the defaults.
func (c *Config) loadPolicy() error {
	all := PolicySettings()
	given, file := defaults(all), c.Process.Policy
	var wrong error
	if file != "" {
		values, err := readYAML(file)
		if err != nil {
			return fmt.Errorf("config: policy (%s, from %s): %w", variable("policy"), c.Origin("policy"), err)
		}
		l := level{"policy:" + file, load(values)}
		wrong = errors.Join(l.check(all), c.take(l, given))
	}
	return errors.Join(wrong, c.fill(&c.Policy, given))
}

// Defaults is the configuration where nothing is given. A test holds every default
// to be valid.
func Defaults() *Config {
	c := &Config{origins: map[string]string{}}
	_ = c.fill(c, defaults(Settings()))
	_ = c.fill(&c.Policy, defaults(PolicySettings()))
	c.Servers.DataDir = defaultDataDir(environment{})
	return c
}

// Origin says where the value of a setting or of the policy is from: flag,
// environment, file:PATH, policy:PATH, dev or default.
func (c *Config) Origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return "default"
}

// UseServers sets the servers that a `starter dev` runs, where they are others
// than those that are set.
func (c *Config) UseServers(database Secret, temporal string) {
	if database != c.Servers.Database {
		c.Servers.Database, c.origins["database-url"] = database, "dev"
	}
	if temporal != c.Servers.Temporal {
		c.Servers.Temporal, c.origins["temporal-address"] = temporal, "dev"
	}
}
