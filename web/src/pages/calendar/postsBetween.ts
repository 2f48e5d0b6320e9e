import { api, type Post, type Schemas, unwrap } from '../../api/client'
import { asked } from './filter'
import type { CalendarSearch } from './search'

/** The maximum number of posts in one view. */
export const maxPosts = 2000

/** All posts of a range, page after page. */
export async function postsBetween(from: Date, to: Date, search: CalendarSearch, signal: AbortSignal): Promise<Post[]> {
  const out: Post[] = []
  for (let cursor: string | undefined; out.length < maxPosts; ) {
    const page: Schemas['PostPage'] = await unwrap(
      api.GET('/api/v1/posts', {
        signal,
        params: {
          query: {
            from: from.toISOString(),
            to: to.toISOString(),
            order: 'asc',
            limit: 200,
            ...(cursor ? { cursor } : {}),
            ...asked(search),
          },
        },
      }),
    )
    out.push(...page.posts)
    cursor = page.next_cursor
    if (!cursor) break
  }
  return out
}
