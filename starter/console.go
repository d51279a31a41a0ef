package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gleaner/internal/console"
	"gleaner/internal/devstack"
	"gleaner/internal/each"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// consoleFlags are the options of `starter console`.
type consoleFlags struct {
	listen, url, cert, key, temporalUI string
	proxies                            []string
	behindTLS                          bool
	role                               store.Role // of who opens the printed address; "" for administrator
}

func consoleCommand(c *cli) *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{Use: "console", Short: "Serve the web page to work in", Args: cobra.NoArgs,
		Long: `Serve the web page in which people work with the record: harvests and their
progress, papers and why they are missing, sites, documents, lists and figures. What
a page shows is JSON for programs at the same address; /openapi.json describes it.

On this machine alone (the default) nobody has to log in who opens the address that is
printed: it has a key, another one at each start. As soon as there is a user, everybody
has to; without one, no other address than this machine's is listened on.
To others, let it speak TLS (--tls-cert and --tls-key), or put a proxy that does
before it, and name the address that browsers have by --url; without either it
listens to nobody else, since passwords would travel unencrypted.`,
		Example: `  starter console
  starter console user add ada
  starter console --listen :8443 --tls-cert console.crt --tls-key console.key
  starter console --listen 127.0.0.1:8088 --url https://gleaner.library.example`,
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error { return serveConsole(ctx, c, a, f) })}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8088", "address to listen on")
	fl.StringVar(&f.url, "url", "", "address by which browsers reach it, where a proxy stands before it")
	fl.StringVar(&f.cert, "tls-cert", "", "file of the certificate, to speak TLS")
	fl.StringVar(&f.key, "tls-key", "", "file of the certificate's key")
	fl.BoolVar(&f.behindTLS, "behind-tls-proxy", false, "others reach it by something that speaks TLS, or not at all, as the port of a container")
	fl.StringSliceVar(&f.proxies, "trusted-proxies", nil, "networks of proxies whose X-Forwarded-For is believed, as CIDR; one of this machine is where --url is given")
	fl.StringVar(&f.temporalUI, "temporal-ui", "", "address of Temporal's web UI, to link to (default: that of the starter dev that runs)")
	cmd.AddCommand(consoleUserCommand(c))
	return cmd
}

func trustedProxies(given []string) (all []netip.Prefix, err error) {
	for _, g := range given {
		n, err := netip.ParsePrefix(g)
		if err != nil {
			return nil, fmt.Errorf("%w: --trusted-proxies: want one such as 172.18.0.0/16, not %q", program.ErrUsage, g)
		}
		all = append(all, n)
	}
	return all, nil
}

func serveConsole(ctx context.Context, c *cli, a *app.App, f consoleFlags) error {
	o := console.Options{App: a, TLS: f.cert != "", BehindTLS: f.behindTLS, KeyRole: f.role}
	if (f.cert == "") != (f.key == "") {
		return fmt.Errorf("%w: --tls-cert and --tls-key go together", program.ErrUsage)
	}
	var err error
	if o.Proxies, err = trustedProxies(f.proxies); err != nil {
		return err
	}
	if f.url != "" {
		u, err := url.Parse(f.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("%w: --url: want one such as https://gleaner.library.example, not %q", program.ErrUsage, f.url)
		}
		o.URL = u
	}
	if o.Provider, err = provider(a.Config); err != nil {
		return err
	}
	if at := workflowURL(a.Config, f.temporalUI); at != nil {
		o.WorkflowURL = func(harvest string) string { return at(workflows.HarvestID(harvest)) }
		o.JobURL = func(kind string, id int64) string { return at(workflows.JobID(kind, id)) }
	}
	d := &desk{c: c, db: a.DB, app: a}
	defer d.close()
	o.Harvests, o.Jobs, o.Schedules = d, d, d
	if folder := a.Config.Console.Imports; folder != "" {
		if o.ImportFolder, err = filepath.Abs(folder); err != nil {
			return err
		}
	}
	page, err := console.New(ctx, o)
	if errors.Is(err, console.ErrProvider) {
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	if err != nil {
		return err
	}
	defer page.Close()
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("%w: --listen: %w", program.ErrUsage, err)
	}
	scheme := "http"
	if o.TLS {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return errors.Join(fmt.Errorf("%w: --tls-cert: %w", program.ErrUsage, err), l.Close())
		}
		scheme, l = "https", tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	}
	err = page.Serve(ctx, l, func(query string) {
		c.Settle()
		fmt.Fprintf(c.Err, "console  %s/%s\n", strings.TrimSuffix(cmp.Or(f.url, scheme+"://"+l.Addr().String()), "/"), query)
	})
	if errors.Is(err, console.ErrNoUsers) || errors.Is(err, console.ErrPlain) {
		err = fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	return err
}

// provider is the identity provider of the settings, nil where none is set.
func provider(cfg *config.Config) (*console.Provider, error) {
	s := cfg.Policy.Login
	if s.Issuer == "" {
		return nil, nil
	}
	client, err := app.OwnClient(cfg)
	return &console.Provider{Issuer: s.Issuer, Client: s.Client, Secret: string(cfg.Console.LoginSecret), Groups: s.Groups, HTTP: client,
		Who: map[store.Role][]string{store.Reader: s.Readers, store.Editor: s.Editors, store.Administrator: s.Administrators}}, err
}

// workflowURL says where Temporal's UI shows a workflow, if it is known where that is.
func workflowURL(cfg *config.Config, ui string) func(string) string {
	if info, ok := devstack.Find(cfg.Servers.DataDir); ok && ui == "" {
		ui = info.UIURL
	}
	if ui == "" {
		return nil
	}
	return func(id string) string {
		return strings.TrimSuffix(ui, "/") + "/namespaces/" + url.PathEscape(cfg.Servers.Namespace) + "/workflows/" + url.PathEscape(id)
	}
}

func consoleUserCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Say who may use the console",
		Long: "Say who may use the console. While there is nobody, it is for this machine alone,\nand asks for no password; of each only the argon2id hash of the password is kept."}
	var file, role string
	add := &cobra.Command{Use: "add NAME", Short: "Let somebody use the console, or change their password or role", Args: args(1, "a user's name"),
		Long: `Let somebody use the console. The password is asked for on a terminal, or is the first
line of the standard input or of a file. Who is known keeps their role where none is
given, and their password where a role is given without --password-file; with a new password
they are logged out everywhere. The first user is an administrator, others are readers.`,
		Example: "  starter console user add ada\n  starter console user add bob --role editor\n  pass show gleaner/ada | starter console user add ada\n  starter console user add ada --password-file ada.txt",
		RunE: func(cmd *cobra.Command, got []string) error {
			return c.onRecord(func(ctx context.Context, a *app.App, got []string) error {
				return addUser(ctx, c, a.DB, cmd.InOrStdin(), got[0], file, role)
			})(cmd, got)
		}}
	add.Flags().StringVar(&file, "password-file", "", "file whose first line is the password")
	add.Flags().StringVar(&role, "role", "", "what they may do: reader (looks), editor (also starts and ends harvests and jobs, and settles matches) or administrator (also says who may, and which hosts are never asked)")
	cmd.AddCommand(add, &cobra.Command{Use: "remove NAME", Short: "Shut somebody out, at once", Args: args(1, "a user's name"), Example: "  starter console user remove ada",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, got []string) error {
			err := otherAdministrator(ctx, a.DB, got[0], true)
			if err != nil {
				return err
			}
			if err := a.DB.RemoveUser(ctx, got[0]); err != nil {
				return program.Unknown{Reason: err}
			}
			return sayUser(c, nil, got[0], "may not use the console any more")
		})}, &cobra.Command{Use: "list", Short: "List who may use the console", Args: cobra.NoArgs, Example: "  starter console user list --json",
		RunE: c.onRecord(func(ctx context.Context, a *app.App, _ []string) error {
			all, err := a.DB.Users(ctx)
			return printRows(c, all, err, "USER\tROLE\tADDED", func(u store.User) string {
				return fmt.Sprintf("%s\t%s\t%s", u.Name, u.Role, u.Added.Local().Format(time.DateTime))
			})
		})})
	return cmd
}

// addUser enters a user with a password, or gives one who is known another password or role.
func addUser(ctx context.Context, c *cli, db *store.DB, in io.Reader, name, file, role string) error {
	if err := oneOf("role", append(each.Text(store.Roles()), ""), role); err != nil {
		return err
	}
	if role != "" && role != string(store.Administrator) {
		if err := otherAdministrator(ctx, db, name, false); err != nil {
			return err
		}
	}
	if role != "" && file == "" && db.SetRole(ctx, name, store.Role(role)) == nil { // who is known
		return sayUser(c, nil, name, "is "+role)
	}
	password, err := password(c, in, file)
	if err != nil {
		return err
	}
	err = console.AddUser(ctx, db, name, password, store.Role(role))
	if errors.Is(err, console.ErrPassword) || errors.Is(err, console.ErrUserName) {
		err = fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	if err != nil {
		return err
	}
	is, err := db.RoleOf(ctx, name)
	return sayUser(c, err, name, "may use the console as "+string(is))
}

// otherAdministrator fails where a user is the last administrator, unless it is alone and may go: the console is for
// this machine then.
func otherAdministrator(ctx context.Context, db *store.DB, name string, goes bool) error {
	all, err := db.Users(ctx)
	if err != nil || goes && len(all) == 1 {
		return err
	}
	is := func(u store.User) bool { return u.Role == store.Administrator }
	other := slices.ContainsFunc(all, func(u store.User) bool { return is(u) && u.Name != name })
	if !other && slices.ContainsFunc(all, func(u store.User) bool { return is(u) && u.Name == name }) {
		return fmt.Errorf("%w: %s is the last administrator; name another first: starter console user add NAME --role administrator", program.ErrUsage, name)
	}
	return nil
}

func sayUser(c *cli, err error, name, said string) error {
	return done(c, err, map[string]string{"user": name, "did": said}, "%s %s\n", name, said)
}

// password reads one: from a file, from a person who types it twice and unseen, or
// from what is piped in. It is never an argument, which everybody could read.
func password(c *cli, in io.Reader, file string) (string, error) {
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("%w: %w", program.ErrUsage, err)
		}
		return firstLine(string(raw)), nil
	}
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		raw, err := io.ReadAll(io.LimitReader(in, 4096))
		return firstLine(string(raw)), err
	}
	var said [2]string
	for i, ask := range []string{"password: ", "again: "} {
		c.Settle()
		fmt.Fprint(c.Err, ask)
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(c.Err)
		if err != nil {
			return "", err
		}
		said[i] = string(raw)
	}
	if said[0] != said[1] {
		return "", fmt.Errorf("%w: the two are not the same", program.ErrUsage)
	}
	return said[0], nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}
