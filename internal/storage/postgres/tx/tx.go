// Package tx has what the transactions of several domains share: entries of the audit
// log, idempotency keys, settings and the clock of the database.
package tx

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/infra/apperr"
	"dateline/internal/storage/postgres/tx/db"
)

// DBTX is a transaction or a pool of connections.
type DBTX = db.DBTX

// Time returns the time of the database's clock, which all rows use.
func Time(ctx context.Context, tx DBTX) (time.Time, error) { return db.New(tx).DatabaseTime(ctx) }

// Setting returns a stored setting of the installation.
func Setting(ctx context.Context, tx DBTX, key string) (value string, err error) {
	return db.New(tx).GetSetting(ctx, key)
}

// PutSetting stores a setting of the installation.
func PutSetting(ctx context.Context, tx DBTX, key, value string) error {
	return db.New(tx).PutSetting(ctx, db.PutSettingParams{Key: key, Value: value})
}

// NoRows reports whether a statement found no row.
func NoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// OrNotFound converts a missing row to a not-found error.
func OrNotFound(err error, what string) error {
	if NoRows(err) {
		return apperr.NotFound(what)
	}
	return err
}

// Violates reports whether a row would have violated a unique constraint.
func Violates(err error, constraint string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "23505" && refused.ConstraintName == constraint
}
