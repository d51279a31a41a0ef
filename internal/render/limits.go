package render

import (
	"time"

	"gleaner/internal/gleaner"
)

// Outcomes of a page that was not shown to its end.
const (
	crashed gleaner.Outcome = "render-crashed" // the page, or the browser, ended by itself
	Limit   gleaner.Outcome = "render-limit"   // it used up its time, its processor time or its memory
	Cut     gleaner.Outcome = "render-cut"     // it asked for more than it was given
	Busy    gleaner.Outcome = "render-busy"    // other pages are being shown
	Shut    gleaner.Outcome = "render-off"     // no browser can be shut in here
)

// limits bound what one page may cost.
type limits struct {
	requests int           // that are answered by Get
	bytes    int64         // of their answers
	wall     time.Duration // of the page, the browser's start included
	grace    time.Duration // of wall, for the page to be read
	cpu      time.Duration // of processor time, of all processes of the browser
	memory   int64         // bytes that all of them hold
	quiet    time.Duration // without a request, after which a page has come to rest
	scrolls  int           // to the end of a page that grows
	page     int           // bytes of what is shown, in UTF-16 units
	said     int64         // bytes of all that the browser tells
}

func bounds() limits {
	return limits{
		requests: 30, bytes: 20 << 20, wall: 2 * time.Minute, grace: 10 * time.Second, cpu: 20 * time.Second,
		memory: 1500 << 20, quiet: 500 * time.Millisecond, scrolls: 5, page: 4 << 20, said: 16 << 20,
	}
}

// maxBrowsers is how many pages one process shows at a time.
const maxBrowsers = 1

// flags of the browser. The box keeps it from the network; these spare it the attempt.
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

// unasked are hosts that count readers or sell advertisements: they have no papers.
var unasked = []string{
	"google-analytics.com", "googletagmanager.com", "doubleclick.net", "googlesyndication.com", "googleadservices.com",
	"clarity.ms", "hotjar.com", "matomo.cloud", "plausible.io", "segment.com", "segment.io", "mixpanel.com",
	"amplitude.com", "newrelic.com", "nr-data.net", "sentry.io", "sentry-cdn.com", "statcounter.com", "histats.com",
	"cloudflareinsights.com", "facebook.net", "addthis.com", "addtoany.com", "disqus.com", "clustrmaps.com",
	"umami.is", "goatcounter.com", "hm.baidu.com", "mc.yandex.ru", "recaptcha.net", "hcaptcha.com",
}
