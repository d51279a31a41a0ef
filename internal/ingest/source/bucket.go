package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"gleaner/internal/library/repository"
)

// bucket is what lies under a prefix of an S3 bucket.
type bucket struct {
	in     *blob.Bucket
	prefix string
}

// openBucket opens s3://BUCKET/PREFIX?PARAMETERS, whose parameters are those of the
// repository (region, endpoint). Credentials are where AWS's programs look for them.
func openBucket(ctx context.Context, where string) (Place, error) {
	if err := Check(where); err != nil {
		return nil, err
	}
	u, err := url.Parse(where)
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawPath = "", ""
	in, err := repository.OpenS3(ctx, u.String())
	if err != nil {
		return nil, err
	}
	if err := signs(ctx, in); err != nil {
		_ = in.Close()
		return nil, err
	}
	return &bucket{in, prefix}, nil
}

// signs reports why nothing that is asked of a bucket could be signed.
func signs(ctx context.Context, in *blob.Bucket) error {
	var client *s3.Client
	if !in.As(&client) || client.Options().Credentials == nil {
		return nil // it is open to all
	}
	if _, err := client.Options().Credentials.Retrieve(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: there are no credentials: %w", ErrRefused, err)
	}
	return ctx.Err()
}

func (b *bucket) Close() error { return b.in.Close() }

func (b *bucket) List(ctx context.Context, from string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		asked, last := 0, "" // since a key came, and that key
		before := func(as func(any) bool) error {
			var in *s3.ListObjectsV2Input
			if as(&in) && in.ContinuationToken == nil && from != "" {
				_, size := utf8.DecodeLastRuneInString(from)
				in.StartAfter = aws.String(b.prefix + from[:len(from)-size]) // which comes before it
			}
			if asked++; asked > manyEmpty {
				return ErrEndless
			}
			return nil
		}
		for it := b.in.List(&blob.ListOptions{Prefix: b.prefix, BeforeList: before}); ; {
			o, err := it.Next(ctx)
			if err == io.EOF { // and not one that a connection met
				return
			}
			if err == nil && last != "" && o.Key <= last {
				err = ErrEndless
			}
			if err != nil {
				yield(File{}, b.unlisted(err))
				return
			}
			asked, last = 0, o.Key
			name := strings.TrimPrefix(o.Key, b.prefix)
			if o.IsDir || strings.HasSuffix(o.Key, "/") || name < from {
				continue
			}
			if !yield(File{Name: name, Size: o.Size, Modified: o.ModTime, Version: version(o.Size, o.ModTime)}, nil) {
				return
			}
		}
	}
}

// manyEmpty is how many answers without a key a listing may have in a row.
const manyEmpty = 100

// unlisted says of an error why there is no listing. Of a whole bucket "not there" and
// "not allowed" are the same to who asks.
func (b *bucket) unlisted(err error) error {
	if errors.Is(err, ErrEndless) {
		return fmt.Errorf("%s: %w", b.prefix, ErrEndless)
	}
	if err = b.typed(err); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

func (b *bucket) Stat(ctx context.Context, name string) (File, error) {
	a, err := b.in.Attributes(ctx, b.prefix+name)
	if err != nil {
		return File{Name: name}, b.typed(err)
	}
	return File{Name: name, Size: a.Size, Modified: a.ModTime, Version: version(a.Size, a.ModTime)}, nil
}

// Open implements Place. What is cut off on its way is asked for again from there on.
func (b *bucket) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	var began time.Time
	return resume(offset, func(at int64) (io.ReadCloser, error) {
		body, err := b.in.NewRangeReader(ctx, b.prefix+name, at, -1, nil)
		if err != nil {
			return nil, b.typed(err)
		}
		if began.IsZero() {
			began = body.ModTime()
		}
		if !body.ModTime().Equal(began) {
			_ = body.Close()
			return nil, ErrChanged
		}
		return body, nil
	})
}

// typed says of an error whether a file is not there, is not for these credentials, all
// of the bucket is not, or nothing is known.
func (b *bucket) typed(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if said, ok := errors.AsType[smithy.APIError](err); ok {
		switch said.ErrorCode() {
		case "AccessDenied":
			return fmt.Errorf("%w: %w", fs.ErrPermission, err)
		case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "InvalidSecurity", "AuthorizationHeaderMalformed", "PermanentRedirect", "InvalidBucketName", "AccountProblem", "AllAccessDisabled", "NotSignedUp":
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return away(err)
}
