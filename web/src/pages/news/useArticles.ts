import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type Schemas, unwrap } from '../../api/client'
import type { Asked } from '../../lib/news'
import { crawlPace, repeated } from '../../lib/newsQueries'

/** An article in a row. */
export interface Row {
  id: string
  domain: string
  language?: string
  heading: Schemas['SearchFragment'][]
  snippet: Schemas['SearchFragment'][]
  at: string
  section?: string
  authors: string[]
}

interface Found {
  rows: Row[]
  next?: string
  answer?: Schemas['SearchResponse']
}

const plain = (text?: string) => (text ? [{ text, match: false }] : [])

/** Articles, listed completely or searched. Further typing cancels a running search. */
export function useArticles(query: Asked, listed: boolean) {
  const found = useInfiniteQuery({
    queryKey: ['news', listed, query],
    placeholderData: keepPreviousData,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => (listed ? list(query, pageParam, signal) : search(query, pageParam, signal)),
    getNextPageParam: (page: Found) => page.next,
    // New articles appear at the top while the page is open.
    refetchInterval: ({ state }) => (listed && state.data?.pages.length === 1 ? crawlPace : false),
  })
  const rows = useMemo(() => found.data?.pages.flatMap((p) => p.rows) ?? [], [found.data])
  return { found, rows, answer: found.data?.pages[0]?.answer }
}

async function list({ domain, from, to }: Asked, cursor: string, signal: AbortSignal): Promise<Found> {
  const page = await unwrap(
    api.GET('/api/v1/articles', {
      params: {
        query: {
          limit: 200,
          ...(domain?.[0] ? { domain: domain[0] } : {}),
          ...(from ? { from } : {}),
          ...(to ? { to } : {}),
          ...(cursor ? { cursor } : {}),
        },
      },
      signal,
    }),
  )
  const rows = page.articles.map((a) => ({
    id: a.id,
    domain: a.domain,
    language: a.language,
    heading: plain(a.title),
    snippet: plain(a.lead),
    at: a.dated_at,
    section: a.section,
    authors: a.authors,
  }))
  return { rows, next: page.next_cursor }
}

async function search(query: Asked, cursor: string, signal: AbortSignal): Promise<Found> {
  const answer = await unwrap(
    api.GET('/api/v1/search', {
      params: { query: { ...query, limit: 100, ...(cursor ? { cursor } : {}) } },
      querySerializer: repeated,
      signal,
    }),
  )
  const rows = answer.hits.map((h) => ({
    id: h.id,
    domain: h.domain,
    language: h.language,
    heading: h.heading,
    snippet: h.snippet,
    at: h.published_at,
    section: h.section,
    authors: h.authors,
  }))
  return { rows, next: answer.next_cursor, answer }
}
