import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import type { Asked } from './news'

/** Names of sections and authors may contain commas. */
export const repeated = { array: { style: 'form', explode: true } } as const

/** The number of articles by domain, section and so on. */
export const countsQuery = (query: Asked) =>
  queryOptions({
    queryKey: ['news-counts', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/search', {
          params: { query: { ...query, facets: true, limit: 1 } },
          querySerializer: repeated,
          signal,
        }),
      ),
  })

export const articleQuery = (id: string) =>
  queryOptions({
    queryKey: ['article', id],
    queryFn: () => unwrap(api.GET('/api/v1/articles/{id}', { params: { path: { id } } })),
  })

export const savedQuery = queryOptions({
  queryKey: ['saved-searches'],
  queryFn: async () => (await unwrap(api.GET('/api/v1/saved-searches'))).saved_searches,
})

/** Crawls have no events, so their figures are polled at this interval. */
export const crawlPace = 3000

export const domainQuery = (domain: string) =>
  queryOptions({
    queryKey: ['domain', domain],
    refetchInterval: 2000,
    queryFn: () => unwrap(api.GET('/api/v1/domains/{domain}', { params: { path: { domain } } })),
  })

export const readingQuery = (domain: string) =>
  queryOptions({
    queryKey: ['reading', domain],
    refetchInterval: 10_000,
    queryFn: () => unwrap(api.GET('/api/v1/domains/{domain}/extraction', { params: { path: { domain } } })),
  })
