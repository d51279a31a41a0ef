package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/service/config"
)

func file(t *testing.T, body string) string {
	path := filepath.Join(t.TempDir(), "gleaner.yaml")
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

// env is an environment of pairs.
func env(pairs map[string]string) (environ []string) {
	for name, value := range pairs {
		environ = append(environ, name+"="+value)
	}
	return environ
}

// shown is how a setting's value, and where it is from, is shown.
func shown(t *testing.T, cfg *config.Config, key string) config.Value {
	t.Helper()
	for _, v := range append(cfg.Show(), cfg.ShowPolicy()...) {
		if v.Key == key {
			return v
		}
	}
	t.Fatal(key)
	return config.Value{}
}

// valid are values of a setting of that kind that are not its default, each other
// than the others.
func valid(t *testing.T, s config.Setting) [3]string {
	t.Helper()
	switch s.Key {
	case "temporal-address", "metrics-address":
		return [3]string{"file.example:1", "env.example:2", "flag.example:3"}
	case "allow-addresses":
		return [3]string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16,127.0.0.1/32"}
	case "ports":
		return [3]string{"8001", "8002", "8003,8004"}
	}
	for _, candidates := range [][3]string{{"11", "12", "13"}, {"11s", "12s", "13s"}, {"true", "false", "true"},
		{"wanted", "all", "none"}, {"gleaner", "zhuang", "bfs"}, {"dblp", "dblp,semanticscholar", "semanticscholar"}, {"arxiv", "none", "links,arxiv"}, {"searxng", "brave", "serper"},
		{"host", "domain", "domain,address"}, {"blacklist", "whitelist", "hybrid"}, {"balanced", "liberal", "off"}, {"debug", "warn", "error"},
		{"http://file.example", "http://env.example", "http://flag.example"},
		{"a@file.example", "a@env.example", "a@flag.example"}} {
		good := true
		for _, v := range candidates {
			_, err := config.Load(map[string]string{s.Key: v, "policy": ""}, os.DevNull, nil)
			good = good && (err == nil || s.Key == "policy")
		}
		if good {
			return candidates
		}
	}
	t.Fatalf("no value is known for %s", s.Key)
	return [3]string{}
}

// TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault, for every setting.
func TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	t.Parallel()
	policy := file(t, "")
	for _, s := range config.Settings() {
		if s.Secret || s.Key == "policy" {
			continue // shown otherwise: other tests
		}
		v := valid(t, s)
		settings := file(t, fmt.Sprintf("%s: %q\npolicy: %s\n", s.Key, v[0], policy))
		for _, c := range []struct {
			flags, env   map[string]string
			file         string
			want, origin string
		}{
			{nil, nil, os.DevNull, s.Default, "default"},
			{nil, nil, settings, v[0], "file:" + settings},
			{nil, map[string]string{s.Env: v[1]}, settings, v[1], "environment"},
			{nil, map[string]string{s.Env: ""}, settings, v[0], "file:" + settings},
			{map[string]string{s.Key: v[2]}, map[string]string{s.Env: v[1]}, settings, v[2], "flag"},
		} {
			cfg, err := config.Load(c.flags, c.file, env(c.env))
			require.NoError(t, err)
			got := shown(t, cfg, s.Key)
			if s.Key == "data-dir" && c.origin == "default" {
				c.want = got.Value // of the user who runs the test
			}
			require.Equal(t, c.want, got.Value, s.Key)
			require.Equal(t, c.origin, got.Origin, s.Key)
		}
	}
}

// TestEverySettingIsDescribed: help, a default that reads as what it is written
// as, and a check that some text does not pass.
func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, len(config.Settings()), 56)
	cfg := config.Defaults()
	keys := map[string]bool{}
	for _, s := range append(config.Settings(), config.PolicySettings()...) {
		require.NotEmpty(t, s.Help, s.Key)
		require.NotContains(t, s.Help, "`", "pflag takes quoted words for the name of a type")
		require.False(t, keys[s.Key], "%s is there twice", s.Key)
		keys[s.Key] = true
		if s.Key != "data-dir" {
			require.Equal(t, s.Default, shown(t, cfg, s.Key).Value, "%s: the default is written otherwise than it is shown, or is not valid", s.Key)
		}
		wrong := "nonsense\x00 of\nfour words"
		if strings.Contains(s.Key, ".") {
			section, name, _ := strings.Cut(s.Key, ".")
			policy := file(t, fmt.Sprintf("%s:\n  %s: %q\n", section, name, wrong))
			_, err := config.Load(map[string]string{"policy": policy}, os.DevNull, nil)
			require.ErrorContains(t, err, "config: "+s.Key+" (from policy:"+policy+"): want ")
			continue
		}
		_, err := config.Load(map[string]string{s.Key: wrong}, os.DevNull, nil)
		require.ErrorContains(t, err, "config: "+s.Key+" ("+s.Env+", from flag): want ")
	}
	loaded, err := config.Load(nil, os.DevNull, nil)
	require.NoError(t, err)
	require.Equal(t, cfg, loaded)
}

func TestTheSettingsFileIsFound(t *testing.T) {
	t.Parallel()
	named := file(t, "delay: 7s\nbuild-id: 2026.10\nsources: [acl, dblp]\ncontact:\n")
	cfg, err := config.Load(nil, "", env(map[string]string{"GLEANER_CONFIG": named}))
	require.NoError(t, err)
	require.Equal(t, 7*time.Second, cfg.Web.Delay)
	require.Equal(t, "2026.10", cfg.Process.BuildID, "what stands there, and no number")
	require.Equal(t, []config.Source{"acl", "dblp"}, cfg.Catalogues.Sources)
	_, err = config.Load(nil, named+".none", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, wrong := range []string{"delay: 1s\ndelay: 2s\n", "delay: {least: 1s}\n", "- delay\n", "delay: [1s, 2s]\n"} {
		_, err = config.Load(nil, file(t, wrong), nil)
		require.Error(t, err, wrong)
	}
}

// TestMisspeltSettingsAreRefused, wherever they stand, with what is meant.
func TestMisspeltSettingsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Load(nil, file(t, "dealy: 7s\n"), nil)
	require.ErrorContains(t, err, `no setting is called "dealy"; did you mean delay?`)
	_, err = config.Load(map[string]string{"min-dealy": "7s"}, os.DevNull, nil)
	require.ErrorContains(t, err, "did you mean min-delay?")
	_, err = config.Load(nil, os.DevNull, env(map[string]string{"GLEANER_MIN_DEALY": "7s"}))
	require.ErrorContains(t, err, "did you mean GLEANER_MIN_DELAY?")
	_, err = config.Load(nil, os.DevNull, env(map[string]string{"GLEANER_BRAVE_KEY_FIEL": "/x"}))
	require.ErrorContains(t, err, "did you mean GLEANER_BRAVE_KEY_FILE?")
	_, err = config.Load(nil, "", []string{"GLEANER_BRAVE_KEY_FILE=/none"})
	require.ErrorContains(t, err, "brave-key-file (GLEANER_BRAVE_KEY_FILE, from environment): open /none")
	_, err = config.Load(nil, file(t, "colour: red\n"), nil)
	require.ErrorContains(t, err, "`starter config` lists them")
	_, err = config.Load(map[string]string{"policy": file(t, "pace: {park-four: 1h}\n")}, os.DevNull, nil)
	require.ErrorContains(t, err, "did you mean pace.park-for?")

	_, err = config.Load(map[string]string{"policy": file(t, "pace: {park-four: 1h, park-for: soon}\n")}, os.DevNull, nil)
	require.ErrorContains(t, err, "pace.park-for (from", "all errors are told at once")
	_, err = config.Load(map[string]string{"policy": file(t, "pace: {park-four: 1h}\n")}, os.DevNull, env(map[string]string{"GLEANER_PARK_FOR": "1h"}))
	require.ErrorContains(t, err, `"park-for" under "pace"`)

	// What others call so for reasons of their own is not ours.
	_, err = config.Load(nil, os.DevNull, env(map[string]string{"GLEANER_PORT": "tcp://10.0.0.1:9090", "GLEANER_SERVICE_HOST": "10.0.0.1", "GLEANER_PASSWORD": "x", "GLEANER_DEALY": ""}))
	require.NoError(t, err)
}

// TestThePolicyIsNoPartOfTheSettingsFile: a key of the policy is refused there, with
// the place where it belongs.
func TestThePolicyIsNoPartOfTheSettingsFile(t *testing.T) {
	t.Parallel()
	for _, s := range config.PolicySettings() {
		section, name, _ := strings.Cut(s.Key, ".")
		_, err := config.Load(nil, file(t, section+": {"+name+": 1}\n"), nil)
		require.ErrorContains(t, err, fmt.Sprintf("%q under %q", name, section))
	}
}

func TestThePolicyFile(t *testing.T) {
	t.Parallel()
	policy := file(t, "pace: {park-for: 2h, park-after: 7}\nfetch:\n  page-bytes: 1.5MB\ncrawl:\n")
	cfg, err := config.Load(nil, os.DevNull, env(map[string]string{"GLEANER_POLICY": policy}))
	require.NoError(t, err)
	want := config.Defaults().Policy
	want.Pace.ParkFor, want.Pace.ParkAfter, want.Fetch.PageBytes = 2*time.Hour, 7, 1_500_000
	require.Equal(t, want, cfg.Policy)
	require.Equal(t, "policy:"+policy, shown(t, cfg, "pace.park-for").Origin)
	require.Equal(t, "default", cfg.Origin("pace.factor"))
	require.Len(t, cfg.Show(), len(config.Settings())+3, "all settings, and what the policy file says")

	// What is printed is read again, comments and all.
	cfg.Policy.Models.Filter, cfg.Policy.Services.ACL = `C:\own "weights".json`, "https://acl.example/xml"
	var printed bytes.Buffer
	require.NoError(t, cfg.Policy.Write(&printed))
	again, err := config.Load(map[string]string{"policy": file(t, printed.String())}, os.DevNull, nil)
	require.NoError(t, err)
	require.Equal(t, cfg.Policy, again.Policy)
	require.Contains(t, printed.String(), "(default: 1h)\n  park-for: 2h\n")
	for _, s := range config.PolicySettings() {
		require.Contains(t, printed.String(), "# "+s.Help, s.Key)
	}

	for said, wrong := range map[string]string{
		"pace.park-after (from policy:": "pace: {park-after: 0}", "from 1 on": "pace: {park-after: 0}", "from 0 to 1": "poor: {page-rate: NaN}",
		"number of bytes": "fetch: {page-bytes: lots}", "is called \"pace\"": "pace: 5", "policy": "delay: 1s",
	} {
		_, err := config.Load(map[string]string{"policy": file(t, wrong)}, os.DevNull, nil)
		require.ErrorContains(t, err, said, wrong)
	}
	_, err = config.Load(map[string]string{"policy": policy + ".none"}, os.DevNull, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestUpperBounds tries each policy setting that has one with the bound and with twice it.
func TestUpperBounds(t *testing.T) {
	t.Parallel()
	bounded := 0
	for section := range reflect.TypeFor[config.Policy]().Fields() {
		for field := range section.Type.Fields() {
			bound, has := field.Tag.Lookup("max")
			if !has {
				continue
			}
			bounded++
			most, err := strconv.ParseFloat(bound, 64)
			require.NoError(t, err)
			for value, fits := range map[float64]bool{most: true, 2 * most: false} {
				text := fmt.Sprintf("%s: {%s: %g}", section.Tag.Get("koanf"), field.Tag.Get("koanf"), value)
				_, err := config.Load(map[string]string{"policy": file(t, text)}, os.DevNull, nil)
				require.Equal(t, fits, err == nil, text)
			}
		}
	}
	require.Positive(t, bounded)
}

func TestValuesAreChecked(t *testing.T) {
	t.Parallel()
	for key, values := range map[string][]string{"delay": {"50", "-1s", ""}, "retain-pages": {"-1h"}, "max-pages": {"many", "0", "-1", "", "1e4"}, "ocr": {"maybe", ""},
		"strategy": {"dfs", ""}, "leads": {"some"}, "filter": {"balancd"}, "crawl-policy": {"grey"}, "search": {"google"}, "log-level": {"loud"},
		"sources": {"dblp,acm"}, "copies": {"links,none,x"}, "directories": {"phonebook"}, "pace-by": {"domain,planet"},
		"allow-addresses": {"10.0.0.1", "10.0.0.0/33"}, "ports": {"0", "65536", "http"}, "temporal-address": {"temporal"},
		"dblp-url": {"dblp.org", "file:///x"}, "repository-url": {"/var/lib"}} {
		for _, value := range values {
			_, err := config.Load(map[string]string{key: value}, os.DevNull, nil)
			require.ErrorContains(t, err, "config: "+key, value)
		}
	}
	_, err := config.Load(map[string]string{"delay": "soon", "ocr": "maybe"}, os.DevNull, nil)
	require.ErrorContains(t, err, "config: delay (GLEANER_DELAY, from flag): want a duration")
	require.ErrorContains(t, err, "config: ocr", "all that is wrong is said at once")

	cfg, err := config.Load(map[string]string{"retain-pages": "30d", "retain-robots": "2w12h", "sources": "dblp, acl", "ports": "8000 8081", "allow-addresses": "10.1.0.0/16,::1/128",
		"dblp-mirror-url": "-", "proxy": "none"}, os.DevNull, nil)
	require.NoError(t, err)
	require.Equal(t, 30*24*time.Hour, cfg.Retain.Pages)
	require.Equal(t, (14*24+12)*time.Hour, cfg.Retain.Robots)
	require.Equal(t, []config.Source{"dblp", "acl"}, cfg.Catalogues.Sources)
	require.Equal(t, []config.Port{8000, 8081}, cfg.Web.Ports)
	require.Len(t, cfg.Web.AllowAddresses, 2)
}

// TestTemporalsOwnNamesHold beside ours.
func TestTemporalsOwnNamesHold(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]map[string]string{
		"a:1": {"TEMPORAL_ADDRESS": "a:1"}, "b:1": {"GLEANER_TEMPORAL_ADDRESS": "b:1"}, "c:1": {"TEMPORAL_ADDRESS": "a:1", "GLEANER_TEMPORAL_ADDRESS": "c:1"},
	} {
		cfg, err := config.Load(nil, os.DevNull, env(given))
		require.NoError(t, err)
		require.Equal(t, want, cfg.Servers.Temporal)
	}
}

func secrets() []config.Setting {
	return each.Where(config.Settings(), func(s config.Setting) bool { return s.Secret })
}

// secret is the value of a secret setting.
func secret(cfg *config.Config, key string) string {
	return map[string]string{"database-url": string(cfg.Servers.Database), "proxy": string(cfg.Web.Proxy), "openalex-key": string(cfg.Catalogues.OpenAlexKey),
		"semantic-scholar-key": string(cfg.Catalogues.SemanticScholarKey), "brave-key": string(cfg.Search.BraveKey), "serper-key": string(cfg.Search.SerperKey),
		"notify-webhook": string(cfg.Notify.Webhook), "notify-webhook-key": string(cfg.Notify.Key), "notify-smtp": string(cfg.Notify.SMTP),
		"console-oidc-secret": string(cfg.Console.LoginSecret)}[key]
}

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, secrets())
	for _, s := range secrets() {
		held := filepath.Join(t.TempDir(), "secret")
		value, other := "http://flag.example:3128", "http://file.example:3128"
		if s.Key == "notify-smtp" {
			value, other = "smtp://flag.example:25", "smtp://file.example:25"
		}
		require.NoError(t, os.WriteFile(held, []byte(value+"\n"), 0o600))
		for name, load := range map[string]func() (*config.Config, error){
			"environment": func() (*config.Config, error) {
				return config.Load(nil, file(t, s.Key+": "+other), env(map[string]string{s.FileEnv(): held}))
			},
			"flag": func() (*config.Config, error) {
				return config.Load(map[string]string{s.FileKey(): held}, os.DevNull, env(map[string]string{s.Env: other}))
			},
			"file": func() (*config.Config, error) {
				return config.Load(nil, file(t, s.FileKey()+": "+held), nil)
			},
		} {
			cfg, err := load()
			require.NoError(t, err, name)
			require.Equal(t, value, secret(cfg, s.Key), name)
			require.Contains(t, cfg.Origin(s.Key), held, name)
		}
		_, err := config.Load(nil, os.DevNull, env(map[string]string{s.Env: value, s.FileEnv(): held}))
		require.ErrorContains(t, err, "both "+s.Key+" and "+s.FileKey())
		_, err = config.Load(nil, os.DevNull, env(map[string]string{s.FileEnv(): held + ".none"}))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	_, err := config.Load(nil, file(t, "delay-file: /etc/passwd\n"), nil)
	require.Error(t, err, "what is no secret has no file")
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const mark = "s3cr3t"
	for _, value := range []string{mark, "postgres://user:" + mark + "@db.example:5432/gleaner?sslmode=disable", "host=db.example password=" + mark,
		"postgres:///gleaner?password=" + mark, "postgres://db.example/gleaner?user=x&password=" + mark, "http://" + mark + "@proxy.example:3128"} {
		for _, s := range secrets() {
			cfg, err := config.Load(map[string]string{s.Key: value}, os.DevNull, nil)
			if err != nil {
				require.NotContains(t, err.Error(), mark)
				continue
			}
			v := shown(t, cfg, s.Key)
			require.NotContains(t, v.Value, mark, "%s of %q", s.Key, value)
			require.NotEmpty(t, v.Value, "that it is set may be seen")
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", *cfg, *cfg, *cfg), mark, "nor in a log")
		}
	}
	cfg, err := config.Load(map[string]string{"database-url": "postgres://user:" + mark + "@db.example/gleaner", "searxng-url": "http://user:" + mark + "@search.example/"}, os.DevNull, nil)
	require.NoError(t, err)
	require.Equal(t, "postgres://user:***@db.example/gleaner", shown(t, cfg, "database-url").Value)
	require.Equal(t, "http://user:***@search.example/", shown(t, cfg, "searxng-url").Value)
	for _, wrong := range []string{"http://user:" + mark + "@proxy example:99999", mark + "://x", "proxy:" + mark} {
		_, err := config.Load(map[string]string{"proxy": wrong}, os.DevNull, nil)
		require.Error(t, err)
		require.NotContains(t, err.Error(), mark)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Size{"0": 0, "7": 7, "10485760": 10 << 20, "10MiB": 10 << 20, "20GB": 20e9, "1.5kB": 1500, "2 TiB": 2 << 40, "3G": 3e9} {
		var s config.Size
		require.NoError(t, s.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, s, text)
		var again config.Size
		require.NoError(t, again.UnmarshalText([]byte(s.String())))
		require.Equal(t, s, again, text)
	}
	for _, wrong := range []string{"", "-1", "MB", "1e9", "1 XB", "99999999999TB"} {
		var s config.Size
		require.Error(t, s.UnmarshalText([]byte(wrong)), wrong)
	}
	require.Equal(t, reflect.Int64, reflect.TypeFor[config.Size]().Kind())
}
