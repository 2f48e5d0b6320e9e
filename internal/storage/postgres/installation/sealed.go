package installation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/keyring"
)

// SealedColumns lists every column with values sealed by internal/identity/secret, and the
// name that binds a value to its row as SQL expressions. Values of a missing column would
// be lost when their key is removed; a test compares the list with the schema.
func SealedColumns() []keyring.Column {
	return []keyring.Column{
		{Table: "accounts", Column: "token", Key: "id::text", Name: "'account/' || id || '/tokens'"},
		{
			Table: "network_apps", Column: "client_secret",
			Key:  "jsonb_build_array(network, base_url, redirect_uri)::text",
			Name: "'app/' || network || '/' || base_url",
		},
		{
			Table: "connect_attempts", Column: "verifier", Key: "encode(state, 'hex')",
			Name: "'attempt/' || encode(state, 'hex')",
		},
		{Table: "account_choices", Column: "accounts", Key: "id::text", Name: "'choice/' || id"},
		{Table: "sites", Column: "visitor_key", Key: "id::text", Name: "'site/' || id"},
		{Table: "webhook_secrets", Column: "secret", Key: "id::text", Name: "'webhook-secret/' || id"},
		{Table: "notification_channels", Column: "destination", Key: "id::text", Name: "'notification-channel/' || id"},
		{Table: "websub_subscriptions", Column: "key", Key: "id::text", Name: "'websub/' || id"},
		{Table: "push_keys", Column: "private_key", Key: "one::text", Name: "'push-key'"},
	}
}

// DropStaleSecrets deletes expired sealed values, so that they do not keep old keys in
// use.
func (s *SecretStore) DropStaleSecrets(ctx context.Context) error {
	_, secrets := s.pool.Exec(ctx, "delete from webhook_secrets where expires_at < clock_timestamp()")
	_, attempts := s.pool.Exec(ctx, "delete from connect_attempts where expires_at < now()")
	_, choices := s.pool.Exec(ctx, "delete from account_choices where expires_at < now()")
	return errors.Join(secrets, attempts, choices)
}

// CountSealed counts the sealed values of a column by key prefix, see
// secret.Sealer.Primary.
func (s *SecretStore) CountSealed(ctx context.Context, c keyring.Column) (map[string]int, error) {
	rows, err := s.pool.Query(ctx,
		fmt.Sprintf("select substring(%[2]s from 1 for 5), count(*) from %[1]s where %[2]s <> ''::bytea group by 1",
			c.Table, c.Column))
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	var mark []byte
	var n int
	_, err = pgx.ForEachRow(rows, []any{&mark, &n}, func() error {
		counts[string(mark)] = n
		return nil
	})
	return counts, err
}

// SealedWithOtherKeys returns sealed values of a column that do not begin with mark, in
// rows after the given key.
func (s *SecretStore) SealedWithOtherKeys(
	ctx context.Context, c keyring.Column, mark []byte, after string, limit int,
) ([]keyring.Sealed, error) {
	rows, err := s.pool.Query(ctx, fmt.Sprintf(`select %[3]s, %[2]s, %[4]s from %[1]s
		where %[2]s <> ''::bytea and substring(%[2]s from 1 for 5) <> $1 and (%[3]s) > $2 order by 1 limit $3`,
		c.Table, c.Column, c.Key, c.Name), mark, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (one keyring.Sealed, err error) {
		err = row.Scan(&one.Key, &one.Bytes, &one.Name)
		return one, err
	})
}

// ReplaceSealed replaces the encrypted value of a row, unless it has changed since it was
// read.
func (s *SecretStore) ReplaceSealed(ctx context.Context, c keyring.Column, was keyring.Sealed, fresh []byte) error {
	_, err := s.pool.Exec(ctx, fmt.Sprintf("update %[1]s set %[2]s = $1 where %[3]s = $2 and %[2]s = $3", c.Table,
		c.Column, c.Key), fresh, was.Key, was.Bytes)
	return err
}
