package repository

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// OpenS3 opens a bucket as blob.OpenBucket does, with a client that follows no
// redirect and says no credentials.
func OpenS3(ctx context.Context, rawURL string) (*blob.Bucket, error) {
	mux := new(blob.URLMux)
	mux.RegisterBucket(s3blob.Scheme, s3Opener{})
	return mux.OpenBucket(ctx, rawURL)
}

type s3Opener struct{}

// OpenBucketURL has s3blob read the URL, and puts its client in another's place.
func (s3Opener) OpenBucketURL(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	var read s3blob.URLOpener
	b, err := read.OpenBucketURL(ctx, u)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	var client *s3.Client
	if !b.As(&client) {
		return nil, errors.New("repository: s3blob has no client of S3")
	}
	o := client.Options()
	if o.HTTPClient, err = straight(o.HTTPClient); err != nil {
		return nil, err
	}
	o.DisableLogOutputChecksumValidationSkipped = true // many stores have none, and it would be said of every object
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(discreet(o.Credentials), middleware.Before)
	})
	return s3blob.OpenBucket(ctx, s3.New(o), u.Host, &read.Options)
}

// straight is a client that takes a redirect for the answer it is: the SDK's own
// would send the session token on to another host.
func straight(c s3.HTTPClient) (*http.Client, error) {
	b, ok := c.(*awshttp.BuildableClient)
	if !ok {
		return nil, fmt.Errorf("repository: a client of S3 of the unknown kind %T", c)
	}
	return &http.Client{Transport: b.GetTransport(), Timeout: b.GetTimeout(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// discreet takes the credentials out of what errors say: a store may repeat in its
// answer what it was asked.
func discreet(credentials aws.CredentialsProvider) middleware.InitializeMiddleware {
	return middleware.InitializeMiddlewareFunc("GleanerHidesCredentials", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
		out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		out, meta, err = next.HandleInitialize(ctx, in)
		if err == nil || credentials == nil {
			return out, meta, err
		}
		c, unknown := credentials.Retrieve(context.WithoutCancel(ctx)) // cached since the request was signed
		if unknown != nil {
			return out, meta, err // there was nothing to sign with
		}
		return out, meta, &hiddenError{err: err, secrets: []string{c.SecretAccessKey, c.SessionToken, c.AccessKeyID}}
	})
}

// hiddenError is an error without the secrets in it. It can be matched as before,
// but is not unwrapped: whoever tells a chain of errors tells what each says.
type hiddenError struct {
	err     error
	secrets []string
}

func (e *hiddenError) Error() string {
	said := e.err.Error()
	for _, s := range e.secrets {
		if s != "" {
			said = strings.NewReplacer(s, "***", url.QueryEscape(s), "***").Replace(said)
		}
	}
	return said
}

// Is and As are errors.Is and errors.As of what is hidden.
func (e *hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

// As is described with Is.
func (e *hiddenError) As(target any) bool { return errors.As(e.err, target) }
