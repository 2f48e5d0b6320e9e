import type { Post, PostStatus } from '../../api/client'
import { statusOf } from '../../components/status'
import type { CalendarSearch } from './search'

/** What posts can be filtered by, and what the colors stand for. */
export const statuses = [
  'draft',
  'pending',
  'rejected',
  'scheduled',
  'publishing',
  'uncertain',
  'posted',
  'partly_posted',
  'failed',
  'canceled',
] as const
export type StatusFilter = (typeof statuses)[number]

/** The chosen statuses; the address separates them by commas. */
export const statusesOf = (search: CalendarSearch): StatusFilter[] => {
  const chosen = search.status?.split(',') ?? []
  return statuses.filter((s) => chosen.includes(s))
}

/** The API's states of posts of which the outcome on an account is uncertain. */
const uncertain: PostStatus[] = ['publishing', 'partly_posted', 'failed']

const isApproval = (s: StatusFilter): s is 'pending' | 'rejected' => s === 'pending' || s === 'rejected'

/**
 * The API's parameters for the URL. Posts that are pending approval are drafts in the API, which lists posts with one
 * of some states and one of some approvals: together with other states all drafts are asked for, and wanted narrows
 * them, as it does with uncertain posts, which are in one of some states.
 */
export function asked(search: CalendarSearch): {
  status?: PostStatus[]
  approval?: ('pending' | 'rejected')[]
  account?: string
  label?: string
  q?: string
} {
  const chosen = statusesOf(search)
  const approval = chosen.filter(isApproval)
  const status = chosen.flatMap((s) => (isApproval(s) ? [] : s === 'uncertain' ? uncertain : [s]))
  return {
    ...(status.length === 0
      ? approval.length > 0
        ? { approval }
        : {}
      : { status: [...new Set([...status, ...(approval.length > 0 ? ['draft' as const] : [])])] }),
    ...(search.account ? { account: search.account } : {}),
    ...(search.label ? { label: search.label } : {}),
    ...(search.q ? { q: search.q } : {}),
  }
}

/** Without networks: the API lists posts by account. */
export const wanted = (search: CalendarSearch) => {
  const chosen = statusesOf(search)
  return (post: Post) =>
    (search.network === undefined || post.targets.some((x) => x.network === search.network)) &&
    (chosen.length === 0 || chosen.some((s) => s === statusOf(post)))
}

/** Whether only some posts are asked for: then what is no post yet is not shown. */
export const isNarrowed = (search: CalendarSearch) => Boolean(search.status || search.label || search.q)

/** The posts without those of a series that has an earlier one in the list, and how many each series has besides. */
export function foldSeries(posts: Post[]): { posts: Post[]; more: Map<string, number> } {
  const first = new Map<string, string>()
  const more = new Map<string, number>()
  const shown = posts.filter((p) => {
    if (!p.series_id) return true
    const kept = first.get(p.series_id)
    if (kept === undefined) first.set(p.series_id, p.id)
    else more.set(kept, (more.get(kept) ?? 0) + 1)
    return kept === undefined
  })
  return { posts: shown, more }
}
