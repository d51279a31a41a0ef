package source

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshConfig says how a server is logged into.
type sshConfig struct {
	ssh.ClientConfig
	agent net.Conn // nil where none is asked
}

func (s server) address() string { return net.JoinHostPort(s.host, strconv.Itoa(int(s.port))) }

// clientConfig is how a server is logged into by these settings. Its host key must be
// known before it is told anything.
func clientConfig(at server, l Logins) (*sshConfig, error) {
	if l.KnownHosts == "" {
		return nil, fmt.Errorf("%w: the host key of %s is not known: name a file of known host keys by sftp.known-hosts in the policy file", ErrRefused, at.host)
	}
	check, err := knownhosts.New(l.KnownHosts)
	if err != nil {
		return nil, fmt.Errorf("%w: sftp.known-hosts: %w", ErrRefused, err)
	}
	c := &sshConfig{ClientConfig: ssh.ClientConfig{User: at.user, HostKeyCallback: known(check, l.KnownHosts), HostKeyAlgorithms: algorithms(check, at.address()), Timeout: serverIdle}}
	if l.Identity != "" {
		signer, err := identity(l.Identity)
		if err != nil {
			return nil, fmt.Errorf("%w: sftp.identity: %w", ErrRefused, err)
		}
		c.Auth = append(c.Auth, ssh.PublicKeys(signer))
	}
	if l.Agent != "" {
		if c.agent, err = net.Dial("unix", l.Agent); err != nil {
			return nil, fmt.Errorf("%w: sftp.agent: %w", ErrRefused, err)
		}
		c.Auth = append(c.Auth, ssh.PublicKeysCallback(agent.NewClient(c.agent).Signers))
	}
	if password := l.PasswordOf(at.host, at.user); password != "" {
		c.Auth = append(c.Auth, ssh.Password(password), ssh.KeyboardInteractive(func(_, _ string, asked []string, _ []bool) ([]string, error) {
			if len(asked) > 1 {
				return nil, errors.New("it asks for more than a password")
			}
			return []string{password}[:len(asked)], nil
		}))
	}
	if len(c.Auth) == 0 {
		return nil, fmt.Errorf("%w: nothing is set by which %s could let %s in: sftp.identity, sftp.agent or GLEANER_IMPORT_PASSWORD", ErrRefused, at.host, at.user)
	}
	return c, nil
}

func identity(file string) (ssh.Signer, error) {
	key, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(key)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("%s wants a passphrase: give it to an agent, and name that by sftp.agent", file)
	}
	return signer, err
}

// known says in a person's words why a host key is not taken.
func known(check ssh.HostKeyCallback, file string) ssh.HostKeyCallback {
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		err := check(host, remote, key)
		var e *knownhosts.KeyError
		switch shown := key.Type() + " " + ssh.FingerprintSHA256(key); {
		case err == nil:
			return nil
		case errors.As(err, &e) && len(e.Want) == 0:
			return fmt.Errorf("%w: the host key of %s (%s) is not in %s: put it there once you have compared it with what its operator says", ErrRefused, host, shown, file)
		case errors.As(err, &e):
			return fmt.Errorf("%w: the host key of %s (%s) is another than %s says: somebody may stand between", ErrRefused, host, shown, file)
		}
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
}

// algorithms are those of the keys that are known of a host: a server has several
// keys, and is to show one of these. nil asks for any.
func algorithms(check ssh.HostKeyCallback, address string) (all []string) {
	var e *knownhosts.KeyError
	if !errors.As(check(address, &net.TCPAddr{}, noKey{}), &e) {
		return nil
	}
	for _, k := range e.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		}
		all = append(all, k.Key.Type())
	}
	return all
}

// noKey is the key of no host.
type noKey struct{ ssh.PublicKey }

func (noKey) Type() string    { return "none" }
func (noKey) Marshal() []byte { return nil }
