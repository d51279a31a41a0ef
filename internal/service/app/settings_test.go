package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/rank"
	"gleaner/internal/recrawl"
	"gleaner/internal/service/config"
)

// TestChoicesAreThoseOfTheCode: package config stands below what it names.
func TestChoicesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, rank.Names(), config.Choices("strategy"))
	require.ElementsMatch(t, []string{string(document.Conservative), string(document.Balanced), string(document.Liberal), "off"}, config.Choices("filter"))
	require.ElementsMatch(t, []string{crawl.PolicyBlacklist, crawl.PolicyWhitelist, crawl.PolicyHybrid}, config.Choices("crawl-policy"))
}

// TestDefaultsAreThoseOfTheCode: what a package does by itself it does where no
// setting says otherwise.
func TestDefaultsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	require.Equal(t, recrawl.Defaults(), recrawlPolicy(cfg.Policy.Recrawl))
	want, got := crawl.Defaults(), crawlConfig(cfg)
	want.Limits = got.Limits // of this year
	want.Policy = crawl.PolicyBlacklist
	require.Equal(t, want, got)
	polite := fetch.Pacing{}.WithDefaults()
	polite.Floor, polite.Rest = cfg.Web.MinDelay, 10*time.Second
	set := pacing(cfg).WithDefaults()
	polite.Rand, set.Rand = nil, nil
	require.Equal(t, polite, set)
	require.EqualValues(t, 10<<20, fetchConfig(cfg).Limits.PageBytes)
	require.EqualValues(t, 100<<20, fetchConfig(cfg).Limits.DocumentBytes)
}

// TestNoProxy: "none" is no proxy for services either, whatever the environment
// says.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	cfg := config.Defaults()
	cfg.Web.Proxy = "none"
	c, err := ServiceClient(cfg)
	require.NoError(t, err)
	require.Nil(t, c.Transport.(identified).Proxy)
	polite, err := Client(cfg)
	require.NoError(t, err)
	require.False(t, polite.Proxied())
}
