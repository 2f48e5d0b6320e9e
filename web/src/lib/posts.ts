import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { api, type Post, type Schemas, unwrap } from '../api/client'

/** Lists of up to this many pages are refetched; of longer ones only the changed posts. */
const short = 3

/** Posts have changed: those with these ids, or some. */
export function refreshPosts(client: QueryClient, ids: Iterable<string> = []): void {
  void client.invalidateQueries({ queryKey: ['posts'] })
  void client.invalidateQueries({ queryKey: ['queue-slots'] })
  const changed = new Set(ids)
  for (const { queryKey, state } of client.getQueryCache().findAll({ queryKey: ['post-list'] })) {
    const pages = (state.data as InfiniteData<Schemas['PostPage']> | undefined)?.pages ?? []
    if (pages.length <= short) void client.invalidateQueries({ queryKey, exact: true })
    else for (const { id } of pages.flatMap((p) => p.posts)) if (changed.has(id)) void refreshRow(client, queryKey, id)
  }
}

async function refreshRow(client: QueryClient, queryKey: readonly unknown[], id: string): Promise<void> {
  const post: Post = await unwrap(api.GET('/api/v1/posts/{id}', { params: { path: { id } } }))
  client.setQueryData<InfiniteData<Schemas['PostPage']>>(
    queryKey,
    (list) =>
      list && {
        ...list,
        pages: list.pages.map((page) =>
          page.posts.some((p) => p.id === id)
            ? { ...page, posts: page.posts.map((p) => (p.id === id ? post : p)) }
            : page,
        ),
      },
  )
}

/** The first words of a post, by which it is named. */
export function firstWords(text: string, max = 70): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? ''
  const letters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(line)].map((s) => s.segment)
  if (letters.length <= max) return line
  const cut = letters.slice(0, max).join('')
  return `${cut.slice(0, cut.lastIndexOf(' ') > max / 2 ? cut.lastIndexOf(' ') : undefined).replace(/[\s,.;:–-]+$/, '')}…`
}

/** The confirmation before a post is published immediately. */
export const confirmNow = (t: TFunction, handles: string[]) => ({
  title: t('compose.nowTitle'),
  text: t('compose.nowText', { accounts: handles.join(', ') }),
  action: t('compose.now'),
})
