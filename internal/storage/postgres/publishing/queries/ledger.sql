-- name: UnresolvedSince :one
-- The first send of a segment that is not known to have failed. Sends that a person has
-- decided on do not count.
select min(sent_at)::timestamptz from operations
where target_id = @target_id and segment = @segment and id <> @operation_id and state in ('ambiguous',
  'reconciled_absent', 'manual')
  and not evidence ? 'decided_by'
having min(sent_at) is not null;
