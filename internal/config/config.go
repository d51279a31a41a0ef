package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Config holds a value for every setting.
type Config struct {
	values  map[string]string
	origins map[string]string
}

// Value is one setting as `starter config` shows it.
type Value struct {
	Key    string `json:"key"`
	Env    string `json:"env"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // flag, environment, file:PATH, dev, default
	Help   string `json:"help"`
}

// Load gathers the settings. flags maps keys to what was given on the command
// line; file is the settings file, "" for the default place, where it may be
// missing.
func Load(flags map[string]string, file string, getenv func(string) string) (*Config, error) {
	named := file != ""
	if !named {
		if file = getenv("GLEANER_CONFIG"); file == "" {
			file = defaultFile()
		} else {
			named = true
		}
	}
	fromFile, err := readFile(file)
	if err != nil && (named || !errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("config: %w", err)
	}
	c := &Config{values: map[string]string{}, origins: map[string]string{}}
	levels := []level{
		{"file:" + file, func(key, _ string) (string, bool) { v, ok := fromFile[key]; return v, ok }},
		{"environment", func(_, env string) (string, bool) { v := getenv(env); return v, v != "" }},
		{"flag", func(key, _ string) (string, bool) { v, ok := flags[key]; return v, ok }},
	}
	for _, s := range Settings {
		c.values[s.Key], c.origins[s.Key] = s.Default, "default"
		for _, l := range levels {
			v, origin, err := l.look(s)
			if err != nil {
				return nil, fmt.Errorf("config: %s (%s, from %s): %w", s.Key, s.Env, l.name, err)
			}
			if origin != "" {
				c.values[s.Key], c.origins[s.Key] = v, origin
			}
		}
		if err := s.check(c.values[s.Key]); err != nil {
			return nil, fmt.Errorf("config: %s (%s, from %s): %w", s.Key, s.Env, c.origins[s.Key], err)
		}
	}
	if c.values["data-dir"] == "" {
		c.values["data-dir"] = defaultDataDir(getenv)
	}
	return c, nil
}

// level is one place where settings stand; a later one wins over an earlier.
type level struct {
	name string
	get  func(key, env string) (string, bool)
}

// look finds a setting at a level, a secret also by the file that holds it; the
// origin is empty where it is not there.
func (l level) look(s Setting) (value, origin string, err error) {
	value, ok := l.get(s.Key, s.Env)
	if ok {
		origin = l.name
	}
	if !s.Secret {
		return value, origin, nil
	}
	file, named := l.get(s.FileKey(), s.FileEnv())
	if !named || file == "" {
		return value, origin, nil
	}
	if ok && value != "" {
		return "", "", fmt.Errorf("both %s and %s are given", s.Key, s.FileKey())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	return strings.TrimSpace(string(raw)), fmt.Sprintf("%s, %s", l.name, file), nil
}

func readFile(name string) (map[string]string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var m map[string]string
	if err := yaml.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for k := range m {
		if !slices.ContainsFunc(Settings, func(s Setting) bool { return s.Key == k || s.Secret && s.FileKey() == k }) {
			return nil, fmt.Errorf("%s: no setting is called %q; `starter config` lists them", name, k)
		}
	}
	return m, nil
}

func defaultFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "gleaner.yaml"
	}
	return filepath.Join(dir, "gleaner", "gleaner.yaml")
}

func defaultDataDir(getenv func(string) string) string {
	if d := getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "gleaner")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ".gleaner"
	}
	return filepath.Join(home, ".local", "share", "gleaner")
}

// Text is a setting's value.
func (c *Config) Text(key string) string {
	v, ok := c.values[key]
	if !ok {
		panic("config: no setting is called " + key)
	}
	return v
}

// Duration, Number, Float and Switch are values that Load has checked.
func (c *Config) Duration(key string) time.Duration {
	d, _ := ParseDuration(c.Text(key))
	return d
}

// Number is a whole number.
func (c *Config) Number(key string) int { return int(c.Float(key)) }

// Float is a number.
func (c *Config) Float(key string) float64 {
	f, _ := strconv.ParseFloat(c.Text(key), 64)
	return f
}

// Switch is true or false.
func (c *Config) Switch(key string) bool {
	b, _ := strconv.ParseBool(c.Text(key))
	return b
}

// Set overrides a setting and says where the value is from.
func (c *Config) Set(key, value, origin string) {
	_ = c.Text(key)
	c.values[key], c.origins[key] = value, origin
}

// Origin says where a setting's value is from.
func (c *Config) Origin(key string) string { return c.origins[key] }

// Show lists all settings, without what is secret.
func (c *Config) Show() []Value {
	out := make([]Value, len(Settings))
	for i, s := range Settings {
		v := c.values[s.Key]
		if s.Secret {
			v = hidden(v)
		} else {
			v = Redact(v)
		}
		out[i] = Value{Key: s.Key, Env: s.Env, Value: v, Origin: c.origins[s.Key], Help: s.Help}
	}
	return out
}
