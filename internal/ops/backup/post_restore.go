package backup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// heldCode is the error code of targets that are held by a restore.
const heldCode = "restored"

// postRestore makes the restored rows consistent with the present, in the transaction
// that loaded them.
//
// Nothing is known about the time between backup and restore. A post that was due may
// have been published, so it is held as uncertain until a user decides, or, with
// HoldReconcile, Dateline searches for it at its network. The same applies to dead
// letters that are retried automatically when their account is reconnected. Series
// continue from now.
//
// The state of Temporal does not match the database, so the workflows of all open posts
// and deliveries are started again.
func postRestore(ctx context.Context, tx pgx.Tx, m Manifest, hold Hold, r *Restored) error {
	if err := tx.QueryRow(ctx, "select clock_timestamp()").Scan(&r.At); err != nil {
		return err
	}
	message := fmt.Sprintf("This post was due before the database was restored from a backup of %s, and may already "+
		"be published. Check the account, then confirm or resend the post.",
		m.TakenAt.Format("2006-01-02 15:04:05 MST"))
	if err := selectHeld(ctx, tx, m, hold, r); err != nil {
		return err
	}
	state, target := "manual", "uncertain"
	if hold == HoldReconcile {
		state, target = "ambiguous", "publishing"
	}
	steps := []struct {
		sql  string
		args []any
		n    *int64
	}{
		// A call that was in flight at the time of the backup keeps its state.
		{`insert into operations (id, target_id, segment, revision, epoch, fence, idempotency_key, fingerprint, state,
			sent_at, evidence)
			select gen_random_uuid(), h.target_id, h.segment, h.revision,
				1 + coalesce((select max(o.epoch) from operations o where o.target_id = h.target_id
					and o.segment = h.segment and o.revision = h.revision), 0),
				t.fence + 1, '', decode(repeat('00', 32), 'hex'), $1::operation_state, $2,
					jsonb_build_object('restored', $2::timestamptz)
			from held h join post_targets t on t.id = h.target_id
			where not exists (select 1 from operations o where o.target_id = h.target_id and o.state in ('sending',
				'ambiguous'))`, []any{state, m.TakenAt}, nil},
		{
			`update operations o set state = $1::operation_state,
				evidence = o.evidence || jsonb_build_object('restored', $2::timestamptz)
			from held h where o.target_id = h.target_id and o.state in ('sending', 'ambiguous')`,
			[]any{state, m.TakenAt},
			nil,
		},
		{`update post_targets t set status = $1::target_status, fence = t.fence + 1, claimed_until = null,
			updated_at = clock_timestamp(),
				error_class = 'ambiguous', error_code = $2, error_message = $3
			from held h where t.id = h.target_id`, []any{target, heldCode, message}, &r.Held},
		{`update scheduled_posts p set status = 'publishing', version = p.version + 1, updated_at = clock_timestamp()
			where p.post_id in (select h.post_id from held h)`, nil, nil},
		{
			`insert into post_events (post_id, workspace_id, target_id, type, actor, data)
			select h.post_id, h.workspace_id, h.target_id, $1, 'dateline', jsonb_build_object('class', 'ambiguous',
				'code', $2::text, 'message', $3::text) from held h`,
			[]any{map[bool]string{true: "ambiguous", false: "uncertain"}[hold == HoldReconcile], heldCode, message},
			nil,
		},
		// Restart the workflows in Temporal.
		{`update scheduled_posts set workflow_revision = null where workflow_revision is not null
			and (status in ('scheduled', 'publishing')
			or post_id in (select t.post_id from post_targets t where t.status in ('failed', 'uncertain')))`, nil, nil},
		{`update webhook_deliveries set has_workflow = false, signaled_at = null where status = 'pending'`, nil, nil},
		{`delete from settings where key = 'temporal_store'`, nil, nil},
		// Series continue from now.
		{
			`update series set checked_until = greatest(checked_until, clock_timestamp()) where status <> 'ended'`, nil,
			nil,
		},
		// Release the leases of the previous processes.
		{`update accounts set lease_owner = null, lease_until = null where lease_owner is not null`, nil, nil},
		{`update crawl_domains set leased_until = null where leased_until is not null`, nil, nil},
	}
	for _, s := range steps {
		tag, err := tx.Exec(ctx, s.sql, s.args...)
		if err != nil {
			return err
		}
		if s.n != nil {
			*s.n = tag.RowsAffected()
		}
	}
	if hold == HoldReconcile {
		r.Held, r.Reconciled = 0, r.Held
	}
	return tx.QueryRow(ctx, `select
		(select count(*) from scheduled_posts p where p.status = 'scheduled'),
		(select count(*) from api_tokens where revoked_at is null
			and (expires_at is null or expires_at > clock_timestamp()))`).Scan(&r.Scheduled, &r.Tokens)
}

// selectHeld selects the targets that may have been sent since the backup.
func selectHeld(ctx context.Context, tx pgx.Tx, m Manifest, hold Hold, r *Restored) error {
	until := r.At
	if hold == HoldAll {
		until = m.TakenAt.AddDate(1000, 0, 0)
	}
	_, err := tx.Exec(ctx, `create temporary table held on commit drop as
		select t.id as target_id, p.post_id, p.workspace_id, p.revision,
			coalesce((select max(r.segment) + 1 from remote_posts r where r.target_id = t.id), 0) as segment
		from post_targets t join scheduled_posts p on p.post_id = t.post_id
		where (p.status in ('scheduled', 'publishing') and t.status in ('scheduled', 'publishing')
			and (p.scheduled_time <= '`+until.Format("2006-01-02T15:04:05.999999Z07:00")+`' or t.status = 'publishing'))
		   or (t.status = 'failed' and t.error_class = 'auth')`)
	return err
}
