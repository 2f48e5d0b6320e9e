import type { Post, PostStatus } from '../../api/client'
import type { CalendarSearch } from './search'

/** The API's parameters for the URL. Posts that are pending approval are drafts in the API. */
export function asked(search: CalendarSearch): {
  status?: PostStatus[]
  approval?: 'pending'[]
  account?: string
  label?: string
  q?: string
} {
  return {
    ...(search.status === 'pending'
      ? { approval: ['pending' as const] }
      : search.status
        ? { status: [search.status as PostStatus] }
        : {}),
    ...(search.account ? { account: search.account } : {}),
    ...(search.label ? { label: search.label } : {}),
    ...(search.q ? { q: search.q } : {}),
  }
}

/** Without networks: the API lists posts by account. */
export const wanted = (search: CalendarSearch) => (post: Post) =>
  search.network === undefined || post.targets.some((x) => x.network === search.network)

/** Whether only some posts are asked for: then what is no post yet is not shown. */
export const isNarrowed = (search: CalendarSearch) => Boolean(search.status || search.label || search.q)
