package render

import (
	"time"

	"gleaner/internal/gleaner"
)

// Outcomes of an incomplete rendering.
const (
	crashed gleaner.Outcome = "render-crashed" // the page or the browser crashed
	Limit   gleaner.Outcome = "render-limit"   // it used up its time, its processor time or its memory
	Cut     gleaner.Outcome = "render-cut"     // its requests exceeded a limit
	Busy    gleaner.Outcome = "render-busy"    // other pages are being rendered
	Shut    gleaner.Outcome = "render-off"     // the box is not available
)

// limits bound the rendering of one page.
type limits struct {
	requests int           // that are answered by Get
	bytes    int64         // of their answers
	wall     time.Duration // for the page, including the browser's start
	grace    time.Duration // part of wall for reading the page
	cpu      time.Duration // processor time of all processes of the browser
	memory   int64         // bytes of all of them
	quiet    time.Duration // time without requests after which a page is complete
	scrolls  int           // to the end of a page that grows
	page     int           // size of the result in UTF-16 units
	messages int64         // bytes of all messages from the browser
}

func bounds() limits {
	return limits{
		requests: 30, bytes: 20 << 20, wall: 2 * time.Minute, grace: 10 * time.Second, cpu: 20 * time.Second,
		memory: 1500 << 20, quiet: 500 * time.Millisecond, scrolls: 5, page: 4 << 20, messages: 16 << 20,
	}
}

// maxBrowsers is the number of pages that a process renders concurrently.
const maxBrowsers = 1

// flags of the browser. The box prevents network access; these avoid attempts.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--user-data-dir=/tmp/profile", "--no-first-run",
	"--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
	"--disable-remote-fonts", "--mute-audio", "--block-new-web-contents", "--password-store=basic",
	"--blink-settings=imagesEnabled=false", "--js-flags=--max-old-space-size=512",
	"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND",
	"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
	"--renderer-process-limit=1", "--disable-site-isolation-trials",
	"--disable-features=IsolateOrigins,site-per-process,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,Translate," +
		"OptimizationHints,MediaRouter,ServiceWorkerAutoPreload,Prerender2,SpeculationRules",
	"about:blank",
}

// blockedHosts are hosts of analytics and advertising, which have no papers.
var blockedHosts = []string{
	"google-analytics.com", "googletagmanager.com", "doubleclick.net", "googlesyndication.com", "googleadservices.com",
	"clarity.ms", "hotjar.com", "matomo.cloud", "plausible.io", "segment.com", "segment.io", "mixpanel.com",
	"amplitude.com", "newrelic.com", "nr-data.net", "sentry.io", "sentry-cdn.com", "statcounter.com", "histats.com",
	"cloudflareinsights.com", "facebook.net", "addthis.com", "addtoany.com", "disqus.com", "clustrmaps.com",
	"umami.is", "goatcounter.com", "hm.baidu.com", "mc.yandex.ru", "recaptcha.net", "hcaptcha.com",
}
