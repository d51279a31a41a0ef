package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"gleaner/internal/harvest/report"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// Options are what a console needs.
type Options struct {
	App *app.App // the record, open

	Harvests  Harvests
	Jobs      Jobs
	Schedules Schedules

	ImportFolder string // from which people may import; "" for nowhere

	Provider *Provider  // by which people log in beside passwords; nil for none
	KeyRole  store.Role // of who opens the printed address while there are no users; "" for administrator

	Proxies   []netip.Prefix // whose X-Forwarded-For is believed, beside a proxy of this machine where there is a URL
	URL       *url.URL       // as browsers have it where a proxy stands before it; nil for none
	TLS       bool           // Serve is given a listener that speaks TLS
	BehindTLS bool           // others reach it by something that speaks TLS alone, whatever URL says

	WorkflowURL func(harvest string) string        // where the Temporal UI shows a harvest; nil for nowhere
	JobURL      func(kind string, id int64) string // and a job
}

// Console answers what browsers and programs ask.
type Console struct {
	Options
	log        *slog.Logger
	pages      map[string]pageTemplate
	inside     *http.ServeMux // the pages, for who is let in
	key        string         // lets in while there are no users
	doors      *doors
	portal     *portal // nil without a provider
	reports    *reports
	estimates  *background[HarvestRequest, Estimated]
	counts     *lately[store.Counts] // of harvests
	growth     *lately[growth]
	counters   *lately[store.Counters] // of the collection
	failures   *lately[[]store.Failure]
	searches   *turns    // through texts
	listings   *turns    // of papers by catalogues, for estimates
	listed     *sync.Map // HarvestRequest → how far its listing is
	exports    *turns
	uploading  *sync.Mutex            // one file at a time: each may take a part of the room that is free
	startTime  time.Duration          // how long the start of a harvest may take
	collection *collection.Collection // draws pictures of documents
	end        context.CancelFunc
}

// ErrNoUsers is returned by Serve where others than the people of this machine could
// reach a console in which nobody has to log in.
var ErrNoUsers = errors.New("a console that others can reach needs users: `starter console user add NAME` makes one")

// ErrPlain is returned by Serve where passwords of others would travel unencrypted.
var ErrPlain = errors.New("passwords of others would travel unencrypted: give it a certificate (--tls-cert, --tls-key), or name the https address of the proxy before it (--url), or say that something before it speaks TLS (--behind-tls-proxy)")

// New makes a console of an open record. Close it before the record.
func New(ctx context.Context, o Options) (*Console, error) {
	c := &Console{Options: o, key: rand.Text(), log: o.App.Log, collection: o.App.Examiner(ctx), counts: &lately[store.Counts]{},
		growth: &lately[growth]{}, counters: &lately[store.Counters]{}, failures: &lately[[]store.Failure]{},
		searches: newTurns(searchesATime), listings: newTurns(searchesATime), exports: newTurns(exportsATime), startTime: startTime,
		uploading: &sync.Mutex{}, listed: &sync.Map{}, inside: http.NewServeMux()}
	var err error
	if c.pages, err = parsePages(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if o.Provider != nil {
		if err = o.Provider.check(o); err != nil {
			return nil, err
		}
		c.portal = &portal{Provider: *o.Provider, key: []byte(rand.Text()), closed: map[string]time.Time{}, asking: semaphore.NewWeighted(1)}
		c.portal.back = o.URL.Scheme + "://" + o.URL.Host + backPath
	}
	if c.doors, err = newDoors(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if err = o.App.DB.EndProvided(ctx); err != nil { // what they may do is as the policy said before
		return nil, fmt.Errorf("console: %w", err)
	}
	ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	for _, d := range c.places() {
		c.inside.Handle(d.pattern, c.only(d.may, d.serve))
	}
	c.inside.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { c.fail(w, r, errNoPage) })
	c.estimates = &background[HarvestRequest, Estimated]{ctx: ctx, kept: makingTime,
		making: map[HarvestRequest]*making[Estimated]{}}
	c.reports = &reports{db: o.App.DB, hands: make(chan struct{}, reportsATime),
		background: background[string, *report.Report]{ctx: ctx, making: map[string]*making[*report.Report]{}}}
	return c, nil
}

// Close ends what the console still works on.
func (c *Console) Close() {
	c.end()
	c.reports.work.Wait()
	c.estimates.work.Wait()
}

// Bounds of what a client may send, and of how long anything takes.
const (
	maxForm     = 64 << 10
	maxList     = 8 << 20   // of papers that a library holds
	maxUpload   = 8 << 30   // of a file to be imported
	maxDropped  = 256 << 20 // of what is longer, which is read and dropped
	maxHeader   = 32 << 10
	readTime    = 30 * time.Second
	answerTime  = 2 * time.Minute
	startTime   = 30 * time.Second // a harvest's start may ask a catalogue for a name
	idleTime    = 2 * time.Minute
	closingTime = 10 * time.Second
)

// Serve answers on a listener until the context ends. It calls up when it is about to,
// and nothing speaks against it, with what to add to the address of a console that has no
// users.
func (c *Console) Serve(ctx context.Context, l net.Listener, up func(query string)) error {
	public := !loopback(l.Addr().String()) || c.URL != nil && !loopback(c.URL.Host)
	_, users, err := c.App.DB.Session(ctx, nil)
	switch open := !users && c.portal == nil; {
	case err != nil:
		return err
	case open && public:
		return ErrNoUsers
	case public && !c.secure():
		return ErrPlain
	case open:
		up("?" + keyParameter + "=" + c.key)
	default:
		up("")
	}
	s := &http.Server{Handler: c.Handler(public), ReadHeaderTimeout: readTime, ReadTimeout: readTime, WriteTimeout: answerTime + readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(c.log.Handler(), slog.LevelWarn)}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
		defer cancel()
		if s.Shutdown(last) != nil {
			_ = s.Close()
		}
	})
	err = s.Serve(l)
	if stop() {
		return err
	}
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Handler is what Serve serves. A public one lets nobody in without log-in.
func (c *Console) Handler(public bool) http.Handler {
	outer := http.NewServeMux()
	outer.HandleFunc("GET /style.css", c.static)
	outer.HandleFunc("GET /live.js", c.static)
	outer.HandleFunc("GET /review.js", c.static)
	outer.HandleFunc("GET /icon.svg", c.static)
	outer.HandleFunc("GET /login", c.loginPage)
	outer.HandleFunc("POST /login", c.login)
	if c.portal != nil {
		outer.HandleFunc("GET "+providerPath, c.toProvider)
		outer.HandleFunc("GET "+backPath, c.fromProvider)
	}
	outer.HandleFunc("POST /logout", c.logout)
	outer.Handle("/", c.admit(public, c.inside))
	return c.guard(public, outer)
}
