package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/config"
)

func file(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gleaner.yaml")
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

// env is an environment, with no settings file in the usual place.
func env(t *testing.T, pairs map[string]string) func(string) string {
	t.Helper()
	return func(name string) string { return pairs[name] }
}

// valid is a value of a setting that is not its default.
func valid(s config.Setting, salt string) string {
	switch s.Kind {
	case config.Duration:
		return map[string]string{"file": "11s", "environment": "12s", "flag": "13s"}[salt]
	case config.Number:
		return map[string]string{"file": "11", "environment": "12", "flag": "13"}[salt]
	case config.Switch:
		return map[string]string{"file": "true", "environment": "false", "flag": "true"}[salt]
	case config.Choice, config.List:
		return s.Choices[map[string]int{"file": 0, "environment": 1, "flag": 2}[salt]]
	}
	if s.Key == "proxy" {
		return "http://" + salt + ".example:3128"
	}
	return salt
}

// TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault, for every setting.
func TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings {
		t.Run(s.Key, func(t *testing.T) {
			t.Parallel()
			settings := file(t, fmt.Sprintf("%s: %q\n", s.Key, valid(s, "file")))
			given := map[string]string{s.Env: valid(s, "environment")}
			empty := file(t, "")
			for _, c := range []struct {
				flags        map[string]string
				file         string
				env          map[string]string
				want, origin string
			}{
				{nil, empty, nil, s.Default, "default"},
				{nil, settings, nil, valid(s, "file"), "file:" + settings},
				{nil, settings, given, valid(s, "environment"), "environment"},
				{map[string]string{s.Key: valid(s, "flag")}, settings, given, valid(s, "flag"), "flag"},
			} {
				cfg, err := config.Load(c.flags, c.file, env(t, c.env))
				require.NoError(t, err)
				if s.Key == "data-dir" && c.origin == "default" {
					c.want = cfg.Text("data-dir") // of the user who runs the test
				}
				require.Equal(t, c.want, cfg.Text(s.Key))
				require.Equal(t, c.origin, cfg.Origin(s.Key))
			}
		})
	}
}

func TestTheSettingsFileIsFound(t *testing.T) {
	t.Parallel()
	named := file(t, "delay: 7s\n")
	cfg, err := config.Load(nil, "", env(t, map[string]string{"GLEANER_CONFIG": named}))
	require.NoError(t, err)
	require.Equal(t, 7*time.Second, cfg.Duration("delay"))
	_, err = config.Load(nil, named+".none", env(t, nil))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = config.Load(nil, file(t, "dealy: 7s\n"), env(t, nil))
	require.ErrorContains(t, err, `no setting is called "dealy"`)
}

func TestValuesAreChecked(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{"delay": "50", "park-for": "-1h", "max-pages": "many", "ocr": "maybe",
		"strategy": "dfs", "leads": "some", "filter": "balancd", "crawl-policy": "grey", "search": "google", "log-level": "loud",
		"sources": "dblp,acm", "copies": "links,none,x", "directories": "phonebook", "pace-by": "domain,planet"} {
		_, err := config.Load(map[string]string{key: value}, file(t, ""), env(t, nil))
		require.ErrorContains(t, err, "config: "+key, value)
	}
	cfg, err := config.Load(map[string]string{"recrawl-first": "30d", "recrawl-max": "2w12h", "sources": "dblp, acl"}, file(t, ""), env(t, nil))
	require.NoError(t, err)
	require.Equal(t, 30*24*time.Hour, cfg.Duration("recrawl-first"))
	require.Equal(t, (14*24+12)*time.Hour, cfg.Duration("recrawl-max"))
}

func secrets() []config.Setting {
	var out []config.Setting
	for _, s := range config.Settings {
		if s.Secret {
			out = append(out, s)
		}
	}
	return out
}

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, secrets())
	for _, s := range secrets() {
		held := filepath.Join(t.TempDir(), "secret")
		value := valid(s, "flag")
		require.NoError(t, os.WriteFile(held, []byte(value+"\n"), 0o600))
		for name, load := range map[string]func() (*config.Config, error){
			"environment": func() (*config.Config, error) {
				return config.Load(nil, file(t, s.Key+": "+valid(s, "file")), env(t, map[string]string{s.FileEnv(): held}))
			},
			"flag": func() (*config.Config, error) {
				return config.Load(map[string]string{s.FileKey(): held}, file(t, ""), env(t, map[string]string{s.Env: valid(s, "file")}))
			},
			"file": func() (*config.Config, error) {
				return config.Load(nil, file(t, s.FileKey()+": "+held), env(t, nil))
			},
		} {
			cfg, err := load()
			require.NoError(t, err, name)
			require.Equal(t, value, cfg.Text(s.Key), name)
			require.Contains(t, cfg.Origin(s.Key), held, name)
		}
		_, err := config.Load(nil, file(t, ""), env(t, map[string]string{s.Env: value, s.FileEnv(): held}))
		require.ErrorContains(t, err, "both "+s.Key+" and "+s.FileKey())
		_, err = config.Load(nil, file(t, ""), env(t, map[string]string{s.FileEnv(): held + ".none"}))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	_, err := config.Load(nil, file(t, "delay-file: /etc/passwd\n"), env(t, nil))
	require.Error(t, err, "what is no secret has no file")
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const mark = "s3cr3t"
	for _, value := range []string{mark, "postgres://user:" + mark + "@db.example:5432/gleaner?sslmode=disable", "host=db.example password=" + mark,
		"postgres:///gleaner?password=" + mark, "postgres://db.example/gleaner?user=x&password=" + mark, "http://" + mark + "@proxy.example:3128"} {
		for _, s := range secrets() {
			if s.Key == "proxy" && config.Redact(value) == value {
				continue // no address
			}
			cfg, err := config.Load(map[string]string{s.Key: value}, file(t, ""), env(t, nil))
			if err != nil {
				require.NotContains(t, err.Error(), mark)
				continue
			}
			for _, v := range cfg.Show() {
				require.NotContains(t, v.Value, mark, "%s of %q", s.Key, value)
				if v.Key == s.Key {
					require.NotEmpty(t, v.Value, "that it is set may be seen")
				}
			}
		}
	}
	cfg, err := config.Load(map[string]string{"database-url": "postgres://user:" + mark + "@db.example/gleaner", "searxng-url": "http://user:" + mark + "@search.example/"}, file(t, ""), env(t, nil))
	require.NoError(t, err)
	for _, v := range cfg.Show() {
		switch v.Key {
		case "database-url":
			require.Equal(t, "postgres://user:***@db.example/gleaner", v.Value)
		case "searxng-url":
			require.Equal(t, "http://user:***@search.example/", v.Value)
		}
	}
	for _, wrong := range []string{"http://user:" + mark + "@proxy example:99999", mark + "://x", "proxy:" + mark} {
		_, err := config.Load(map[string]string{"proxy": wrong}, file(t, ""), env(t, nil))
		require.Error(t, err)
		require.NotContains(t, err.Error(), mark)
	}
}
