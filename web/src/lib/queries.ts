import { queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client'

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: async () => (await unwrap(api.GET('/api/v1/accounts'))).accounts,
})

export const networksQuery = queryOptions({
  queryKey: ['networks'],
  staleTime: 300_000,
  queryFn: async () => (await unwrap(api.GET('/api/v1/networks'))).networks,
})

export const postQuery = (id: string) =>
  queryOptions({
    queryKey: ['post', id],
    queryFn: () => unwrap(api.GET('/api/v1/posts/{id}', { params: { path: { id } } })),
  })

export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: ['post', id, 'timeline'],
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/posts/{id}/timeline', { params: { path: { id } } }))) as Schemas['Timeline'],
  })

/** The most posts that the list of approvals shows at once; the next ones follow when these are decided. */
export const maxApprovals = 50

/** Posts pending approval, the earliest time first. */
export const approvalsQuery = queryOptions({
  queryKey: ['posts', 'approvals'],
  staleTime: 30_000,
  queryFn: async () =>
    (
      await unwrap(
        api.GET('/api/v1/posts', { params: { query: { approval: ['pending'], order: 'asc', limit: maxApprovals } } }),
      )
    ).posts,
})

/** What members said about a post, and who they are. */
export const commentsQuery = (id: string) =>
  queryOptions({
    queryKey: ['post', id, 'comments'],
    queryFn: () => unwrap(api.GET('/api/v1/posts/{id}/comments', { params: { path: { id } } })),
  })

export const deadCountsQuery = queryOptions({
  queryKey: ['dead-letters', 'counts'],
  queryFn: () => unwrap(api.GET('/api/v1/dead-letters/counts')),
})

export const groupsQuery = queryOptions({
  queryKey: ['account-groups'],
  staleTime: 60_000,
  queryFn: async () => (await unwrap(api.GET('/api/v1/account-groups'))).groups,
})

export const labelsQuery = queryOptions({
  queryKey: ['labels'],
  staleTime: 60_000,
  queryFn: async () => (await unwrap(api.GET('/api/v1/labels'))).labels,
})

export const snippetsQuery = queryOptions({
  queryKey: ['snippets'],
  staleTime: 60_000,
  queryFn: async () => (await unwrap(api.GET('/api/v1/snippets'))).snippets,
})

/** The slots of all queues in a time window, free and taken. */
export const slotsQuery = (from: Date, to: Date) =>
  queryOptions({
    queryKey: ['queue-slots', from.toISOString(), to.toISOString()],
    staleTime: 30_000,
    queryFn: async () =>
      (
        await unwrap(
          api.GET('/api/v1/queue-slots', { params: { query: { from: from.toISOString(), to: to.toISOString() } } }),
        )
      ).slots,
  })

/** Times at which earlier posts on the accounts got more clicks. */
export const bestTimesQuery = (accounts: string[], zone: string) =>
  queryOptions({
    queryKey: ['best-times', [...accounts].sort(), zone],
    staleTime: 600_000,
    retry: false,
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/reports/posts/best-times', { params: { query: { account: accounts, time_zone: zone } } }),
      ),
  })

export const mediaQuery = (id: string) =>
  queryOptions({
    queryKey: ['media', id],
    staleTime: 300_000,
    queryFn: () => unwrap(api.GET('/api/v1/media/{id}', { params: { path: { id } } })),
  })

/** The card that networks show for a linked page. */
export const linkCardQuery = (url: string) =>
  queryOptions({
    queryKey: ['link-card', url],
    staleTime: 900_000,
    retry: false,
    queryFn: () => unwrap(api.GET('/api/v1/link-card', { params: { query: { url } } })),
  })

export const sitesQuery = queryOptions({
  queryKey: ['sites'],
  queryFn: async () => (await unwrap(api.GET('/api/v1/sites'))).sites,
})

/** Active series; the calendar shows their upcoming posts. */
export const activeSeriesQuery = queryOptions({
  queryKey: ['series', 'active'],
  staleTime: 60_000,
  queryFn: async () =>
    (await unwrap(api.GET('/api/v1/series', { params: { query: { status: ['active'], limit: 200 } } }))).series,
})
