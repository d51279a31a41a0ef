package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/homepage"
	"gleaner/internal/ingest"
	"gleaner/internal/ingest/source"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
	"gleaner/internal/render"
	"gleaner/internal/service/config"
	"gleaner/internal/service/notify"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
)

// App is everything that is open.
type App struct {
	Config     *config.Config
	Log        *slog.Logger
	DB         *store.DB
	Repo       *repository.Repository
	Keeper     *politeness.Keeper
	Fetch      *fetch.Client
	Collection *collection.Collection
	Importer   *ingest.Importer
	Tables     *tables.Jobs
	Crawler    *crawl.Crawler
	Maker      *synthesis.Maker // of collections by topic
	Stages     *harvest.Stages
	Watch      Watch // never nil
	Recrawl    recrawl.Policy
	Stats      stats.Thresholds
	Citations  stats.Citations
	Search     homepage.Engines // the engines of the web search, with their budgets
	Catalogues Catalogues
	Channels   []notify.Channel // by which the operator is told what happened

	options  Options
	memory   *fetch.Memory // of all clients
	answers  *harvest.Answers
	shutTemp func() // removes the readers' temporary files; nil where none were opened

	filter      *document.Filter // nil where it is switched off
	disciplines *classify.Disciplines
	index       *store.PageIndex // nil where it is switched off
	leases      *pgxpool.Pool    // of the Keeper alone
}

// ErrNoDatabase is returned by OpenRecord where no database is configured.
var ErrNoDatabase = errors.New("no database is configured: start `starter dev`, or set GLEANER_DATABASE_URL")

// ErrSettings marks errors of settings that config.Load cannot know to be wrong.
var ErrSettings = errors.New("wrong settings")

// Options are what no setting says. The zero value logs nothing and tells nobody.
type Options struct {
	Log    *slog.Logger
	Watch  Watch
	Cores  int               // documents read at a time; 0 is the number of processors
	Child  document.Child    // how the program starts itself as the built-in PDF reader
	Reader collection.Reader // reads documents; nil is a document.Reader
	// Migrate has the migrations applied that the database lacks; without it the schema has
	// to be this program's (else store.ErrSchema).
	Migrate bool
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Watch == nil {
		o.Watch = unwatched{}
	}
	return o
}

// OpenRecord opens the database and the blob store alone: all that commands
// need which only look.
func OpenRecord(ctx context.Context, cfg *config.Config, o Options) (*App, error) {
	o = o.withDefaults()
	if cfg.Servers.Database == "" {
		return nil, ErrNoDatabase
	}
	connect := store.Connect
	if o.Migrate {
		connect = store.Open
	}
	db, err := connect(ctx, string(cfg.Servers.Database), 0)
	if err != nil {
		return nil, err
	}
	repo, err := OpenRepository(ctx, cfg)
	if err != nil {
		db.Close()
		return nil, err
	}
	repo.BelongTo(db)
	a := &App{Config: cfg, Log: o.Log, Watch: o.Watch, options: o, DB: db, Repo: repo, memory: bodies(), answers: &harvest.Answers{DB: db}, Recrawl: recrawlPolicy(cfg.Policy.Recrawl), Stats: thresholds(cfg.Policy.Poor)}
	if a.filter, err = Filter(cfg); err == nil {
		a.disciplines, err = Disciplines(cfg)
	}
	if err != nil {
		a.Close()
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return a, nil
}

// OpenRepository opens the blob store of the settings alone.
func OpenRepository(ctx context.Context, cfg *config.Config) (*repository.Repository, error) {
	url := cfg.Servers.Repository
	if url == "" {
		dir, err := filepath.Abs(filepath.Join(cfg.Servers.DataDir, "blobs"))
		if err != nil {
			return nil, err
		}
		url = "file://" + filepath.ToSlash(dir)
	}
	return repository.Open(ctx, url)
}

// Open opens everything that a worker needs.
func Open(ctx context.Context, cfg *config.Config, o Options) (*App, error) {
	a, err := OpenRecord(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	if err := a.openParts(ctx); err != nil {
		a.Close()
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return a, nil
}

func (a *App) openParts(ctx context.Context) error {
	cfg := a.Config
	var err error
	if a.Channels, err = Channels(cfg); err != nil {
		return err
	}
	if a.leases, err = a.DB.SidePool(ctx, leaseConns); err != nil {
		return err
	}
	a.Keeper = politeness.NewKeeper(a.leases, pacing(cfg), a.holder())
	a.Keeper.Keep(store.New(a.leases).SiteDelay)
	if a.Fetch, err = fetch.New(a.webConfig()); err != nil {
		return err
	}
	a.openCollection(ctx)
	a.Collection.WhenJudged(func(j collection.Judgement, took time.Duration) {
		a.Watch.Judged(string(j.State), j.Class, took)
	})
	a.Importer = ingest.New(ingest.Parts{DB: a.DB, Repo: a.Repo, Coll: a.Collection, Log: a.Log, Places: source.Places{Asker: a.Fetch},
		DocumentBytes: int64(cfg.Policy.Fetch.DocumentBytes), PageBytes: int64(cfg.Policy.Fetch.PageBytes)})
	cc := crawlConfig(cfg)
	if d := a.disciplines; d != nil {
		cc.About = func(p *page.Page) bool { _, sure := d.Best(p.Title, p.Text); return sure >= classify.Sure }
	}
	if b, err := render.Find(); err == nil && cfg.Policy.Crawl.Render != config.RenderOff {
		cc.Browser, cc.Memory = b, a.memory
	}
	if err := cc.Links.Check(); err != nil {
		return fmt.Errorf("config: links.%w", err)
	}
	if cc.Rank, err = RankOptions(cfg); err != nil {
		return err
	}
	if cfg.Policy.Index.On {
		a.index = a.DB.PageIndex(cfg.Policy.Index.Pages)
		cc.Index = a.indexPages
	}
	a.Crawler = crawl.New(a.DB, a.Keeper, watchedClient{a.Fetch, a.Watch}, a.Collection, cc, a.Log)
	client, err := ServiceClient(cfg)
	if err != nil {
		return err
	}
	services := robotsFirst{a.Keeper.Services(), a.Fetch, a.Keeper}
	a.Citations = a.citations(client, services)
	a.Tables = tables.New(tables.Parts{DB: a.DB, Repo: a.Repo, Citations: a.Citations, Fetch: a.Fetch, Log: a.Log})
	a.Catalogues = catalogues(cfg, client, services, a.memory, a.Log, a.answers.Begin)
	return a.openStages(client)
}

// indexPages gives what a crawl read to the local index.
func (a *App) indexPages(ctx context.Context, pages []*page.Page) error {
	return a.index.PutPages(ctx, harvest.Indexed(pages...))
}

// openStages makes what runs between crawls.
func (a *App) openStages(client *http.Client) error {
	cfg, c := a.Config, a.Catalogues
	web, search, err := searchers(cfg, a.DB.PageRecords, a.index, client, a.searchGate, a.memory, a.answers.Begin)
	if err != nil {
		return err
	}
	model, err := homepageModel(cfg)
	if err != nil {
		return err
	}
	getter, err := a.evidence()
	if err != nil {
		return err
	}
	a.Search = web
	a.Maker = a.maker(web, getter)
	papers := &harvest.PaperSources{DB: a.DB, DBLP: c.DBLP, Log: a.Log,
		Sources: c.Sources, Completers: c.Completers, Names: c.Names}
	a.Stages = &harvest.Stages{DB: a.DB, DBLP: c.DBLP, Papers: papers, Copies: c.Copies, Log: a.Log, Index: a.index,
		Directories: c.Directories, NoDBLPPeople: !c.PeopleDBLP, WebSearch: len(web) > 0,
		Pages: getter, Every: func(d time.Duration) fetch.Gate { return a.Keeper.Every(d) },
		Finder: homepage.New(homepage.Config{Searcher: search, Model: model, Getter: getter})}
	return nil
}

// Close closes what is open.
func (a *App) Close() {
	if a.shutTemp != nil {
		a.shutTemp()
	}
	if a.Repo != nil {
		if err := a.Repo.Close(); err != nil {
			a.Log.Warn("the blob store did not close well", "error", err)
		}
	}
	if a.leases != nil {
		store.ClosePool(a.leases)
	}
	a.DB.Close()
}

// leaseConns is how many connections a worker keeps for leases and turns alone: a
// lease that waits behind long queries runs out. Each use takes a moment.
const leaseConns = 2

func crawlConfig(cfg *config.Config) crawl.Config {
	c, limits := crawl.Defaults(), cfg.Policy.Crawl
	c.SlicePages, c.SliceTime, c.MaxPages = limits.SlicePages, limits.SliceTime, cfg.Crawl.MaxPages
	c.MaxBytes, c.HarvestBytes = int64(limits.SiteBytes), int64(limits.HarvestBytes)
	c.MaxTime = limits.SiteTime
	c.MaxTries, c.RetryBase = limits.Tries, limits.RetryBase
	c.WARC = cfg.Crawl.WARC
	c.Strategy, c.Leads = string(cfg.Crawl.Strategy), string(cfg.Crawl.Leads)
	c.Recrawl, c.Policy = recrawlPolicy(cfg.Policy.Recrawl), string(cfg.Crawl.Policy)
	c.MaxDepth, c.DirPages = limits.Depth, limits.DirPages
	c.TrapPages, c.TrapRate = cfg.Policy.Poor.TrapPages, cfg.Policy.Poor.Yield
	c.Inspect, c.Names = cfg.Policy.Links.Inspect, cfg.Policy.Documents.NameFilter
	c.Links = Links(cfg)
	return c
}

func recrawlPolicy(p config.RecrawlPolicy) recrawl.Policy {
	r := recrawl.Defaults()
	r.First, r.Document, r.Min, r.Max, r.RetryBase = p.First, p.Document, p.Min, p.Max, p.RetryBase
	return r
}

// Links are the lists of what crawls leave out.
func Links(cfg *config.Config) rules.Lists {
	p := cfg.Policy.Links
	l := rules.Lists{Ignore: p.Ignore, Allow: p.Allow, IgnoreTypes: p.IgnoreTypes, StopDirectories: p.StopDirectories, Levels: p.Levels}
	if l.Empty() {
		return rules.Lists{}
	}
	return l
}

func thresholds(p config.PoorPolicy) stats.Thresholds {
	t := stats.Defaults()
	t.Yield, t.TrapPages = p.Yield, p.TrapPages
	return t
}
