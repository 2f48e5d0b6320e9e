// Package kms encrypts the keyset with a key of a key management service. It is apart from
// package secret because the service's client is large and only the program needs it.
package kms

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go/v2/tink"

	"dateline/internal/identity/secret"
)

const awsPrefix = "aws-kms://"

// Cipher returns the cipher of a key such as
// aws-kms://arn:aws:kms:ap-southeast-1:111122223333:key/…, and nil if key is empty: the
// keyset is in cleartext.
func Cipher(key string) secret.Cipher {
	if key == "" {
		return nil
	}
	return func(ctx context.Context) (tink.AEADWithContext, error) {
		arn, ok := strings.CutPrefix(key, awsPrefix)
		if !ok {
			return nil, errors.New("DATELINE_KEYSET_KMS is not an AWS KMS key")
		}
		cipher, err := awskms.NewAEADWithContext(ctx, arn)
		if err != nil {
			return nil, fmt.Errorf("connecting to the key management service (DATELINE_KEYSET_KMS): %w", err)
		}
		return cipher, nil
	}
}
