package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/collection"
	"gleaner/internal/config"
	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/page"
	"gleaner/internal/politeness"
	"gleaner/internal/recrawl"
	"gleaner/internal/repository"
	"gleaner/internal/stats"
	"gleaner/internal/store"
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
	Crawler    *crawl.Crawler
	Stages     *harvest.Stages
	Watch      Watch // never nil
	Recrawl    recrawl.Policy
	Stats      stats.Thresholds
	Citations  stats.Citations
	Search     *homepage.CachedSearcher // the web search, with its budget; nil for none
	Catalogues Catalogues

	shutTemp func() // removes the readers' temporary files; nil where none were opened

	filter *document.Filter // nil where it is switched off
	index  *store.PageIndex // nil where it is switched off
	leases *pgxpool.Pool    // of the Keeper alone
}

// ErrNoDatabase is returned by OpenRecord where no database is configured.
var ErrNoDatabase = errors.New("no database is configured: start `starter dev`, or set GLEANER_DATABASE_URL")

// OpenRecord opens the database and the blob store alone: all that commands
// need which only look.
func OpenRecord(ctx context.Context, cfg *config.Config, log *slog.Logger) (*App, error) {
	dsn := cfg.Text("database-url")
	if dsn == "" {
		return nil, ErrNoDatabase
	}
	db, err := store.Open(ctx, dsn, 0)
	if err != nil {
		return nil, err
	}
	repo, err := openRepository(ctx, cfg)
	if err != nil {
		db.Close()
		return nil, err
	}
	repo.BelongTo(db)
	a := &App{Config: cfg, Log: log, DB: db, Repo: repo, Recrawl: recrawlPolicy(cfg), Stats: thresholds(cfg)}
	if a.filter, err = Filter(cfg); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func openRepository(ctx context.Context, cfg *config.Config) (*repository.Repository, error) {
	url := cfg.Text("repository-url")
	if url == "" {
		dir, err := filepath.Abs(filepath.Join(cfg.Text("data-dir"), "blobs"))
		if err != nil {
			return nil, err
		}
		url = "file://" + filepath.ToSlash(dir)
	}
	return repository.Open(ctx, url)
}

// Open opens everything that a worker needs.
func Open(ctx context.Context, cfg *config.Config, log *slog.Logger) (*App, error) {
	return OpenWatched(ctx, cfg, log, unwatched{})
}

// OpenWatched is Open for somebody who wants to know what is done.
func OpenWatched(ctx context.Context, cfg *config.Config, log *slog.Logger, watch Watch) (*App, error) {
	a, err := OpenRecord(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	a.Watch = watch
	if err := a.openParts(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) openParts(ctx context.Context) error {
	cfg := a.Config
	fc, err := fetchConfig(cfg)
	if err != nil {
		return err
	}
	if a.leases, err = a.DB.SidePool(ctx, leaseConns); err != nil {
		return err
	}
	a.Keeper = politeness.NewKeeper(a.leases, fc.Pacing, a.holder())
	a.Keeper.Keep((&store.DB{Pool: a.leases}).SiteDelay)
	fc.Gate, fc.Robots = a.Keeper, a.DB
	if a.Fetch, err = fetch.New(fc); err != nil {
		return err
	}
	a.openCollection(ctx)
	a.tellOfJudgements()
	cc := crawlConfig(cfg)
	if cc.Rank, err = RankOptions(cfg); err != nil {
		return err
	}
	if cfg.Switch("local-index") {
		a.index = a.DB.PageIndex(cfg.Number("local-index-pages"))
		cc.Index = a.indexPages
	}
	a.Crawler = crawl.New(a.DB, a.Keeper, watchedClient{a.Fetch, a.Watch}, a.Collection, cc, a.Log)
	client, err := serviceClient(cfg)
	if err != nil {
		return err
	}
	services := robotsFirst{a.Keeper.Services(), a.Fetch}
	a.Citations = a.citations(client, services)
	if a.Catalogues, err = catalogues(cfg, client, services, a.Log); err != nil {
		return err
	}
	return a.openStages(client)
}

// indexPages gives what a crawl read to the local index.
func (a *App) indexPages(ctx context.Context, pages []*page.Page) error {
	var out []homepage.IndexedPage
	for _, p := range pages {
		out = append(out, harvest.Indexed(p)...)
	}
	return a.index.PutPages(ctx, out)
}

// openStages makes what runs between crawls.
func (a *App) openStages(client *http.Client) error {
	cfg, c := a.Config, a.Catalogues
	web, search, err := searchers(cfg, a.DB, a.index, client, a.searchGate())
	if err != nil {
		return err
	}
	model, err := HomepageModel(cfg)
	if err != nil {
		return err
	}
	getter, err := a.evidence()
	if err != nil {
		return err
	}
	a.Search = web
	a.Stages = &harvest.Stages{DB: a.DB, DBLP: c.DBLP, Copies: c.Copies, Log: a.Log, Index: a.index,
		Sources: c.Sources, Completers: c.Completers, SourceNames: c.Names, Directories: c.Directories, NoDBLPPeople: !c.PeopleDBLP,
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
		a.leases.Close()
	}
	a.DB.Close()
}

// leaseConns is how many connections a worker keeps for leases and turns alone: a
// lease that waits behind long queries runs out. Each use takes a moment.
const leaseConns = 2

func crawlConfig(cfg *config.Config) crawl.Config {
	c := crawl.DefaultConfig()
	c.SlicePages, c.SliceTime, c.MaxPages = cfg.Number("slice-pages"), cfg.Duration("slice-time"), cfg.Number("max-pages")
	c.MaxBytes, c.HarvestBytes = int64(cfg.Number("max-site-bytes")), int64(cfg.Number("max-harvest-bytes"))
	c.MaxTries, c.RetryBase = cfg.Number("max-tries"), cfg.Duration("retry-base")
	c.Strategy, c.Leads = cfg.Text("strategy"), cfg.Text("leads")
	c.Recrawl, c.Policy = recrawlPolicy(cfg), cfg.Text("crawl-policy")
	c.MaxDepth, c.DirPages = cfg.Number("max-depth"), cfg.Number("dir-pages")
	c.TrapPages, c.TrapRate = cfg.Number("trap-pages"), cfg.Float("poor-prr")
	return c
}

func recrawlPolicy(cfg *config.Config) recrawl.Policy {
	p := recrawl.Default()
	p.First, p.Document, p.Missing = cfg.Duration("recrawl-first"), cfg.Duration("recrawl-document"), cfg.Duration("recrawl-missing")
	p.Min, p.Max = cfg.Duration("recrawl-min"), cfg.Duration("recrawl-max")
	p.Longer, p.Shorter, p.Gained = cfg.Float("recrawl-longer"), cfg.Float("recrawl-shorter"), cfg.Float("recrawl-gained")
	p.RetryBase, p.RetryMax = cfg.Duration("site-retry-base"), cfg.Duration("site-retry-max")
	p.Revisit = cfg.Number("revisit-avoided")
	return p
}

func thresholds(cfg *config.Config) stats.Thresholds {
	return stats.Thresholds{PRR: cfg.Float("poor-prr"), DDR: cfg.Float("poor-ddr"), ADR: cfg.Float("poor-adr"), MinURLs: cfg.Number("poor-min-urls"),
		TrapPages: cfg.Number("trap-pages"), StopSites: cfg.Number("stop-sites"), StopShare: cfg.Float("stop-share")}
}

// Version is the crawler's, as web masters see it.
const Version = "1.0"
