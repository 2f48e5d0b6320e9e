import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { type Connection, follow } from '../api/stream'
import { base } from '../boot'
import { refreshPosts } from './posts'
import { notifyMatches, notifyMention } from './notify'

const Context = createContext<Connection>('connecting')

/** The state of the workspace's event stream. */
export const useConnection = () => useContext(Context)

interface WorkspaceEvent {
  type: string
  post_id?: string
  account_id?: string
  data?: { domain?: string; mentions?: string[] }
}

/** The minimum interval between two reloads of a list, in milliseconds: events arrive as fast as posts are published. */
const reloadInterval = 400

/** Keeps pages up to date: each event of the workspace's stream invalidates the queries it affects. */
export function LiveProvider({ workspace, user, children }: { workspace: string; user: string; children: ReactNode }) {
  const client = useQueryClient()
  const [state, setState] = useState<Connection>('connecting')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another workspace needs another connection, although its address is the same
  useEffect(() => {
    const stop = new AbortController()
    const invalidate = batchedInvalidation(client, user)
    void follow(
      `${base}/api/v1/events`,
      {
        event: (e) => invalidate(JSON.parse(e.data) as WorkspaceEvent),
        state: (now, resumed) => {
          setState(now)
          // Something may have changed between the first load of the page and the start of this stream.
          if (now === 'live' && !resumed) void client.invalidateQueries({ predicate: isLive })
        },
        refused: () => void client.invalidateQueries({ queryKey: ['me'] }),
        // A user who was logged out, or changed the workspace in another tab, sees it now.
        closed: () => void client.invalidateQueries({ queryKey: ['me'] }),
      },
      stop.signal,
    )
    return () => stop.abort()
  }, [client, workspace, user])
  // Without a stream, the lists of the page are fetched regularly.
  useEffect(() => {
    if (state === 'live' || state === 'connecting') return
    const timer = setInterval(() => void client.invalidateQueries({ predicate: isLive }), pollInterval)
    return () => clearInterval(timer)
  }, [client, state])
  return <Context value={state}>{children}</Context>
}

/** The interval at which lists are fetched while there is no stream, in milliseconds. */
const pollInterval = 30_000

const isLive = (q: { queryKey: readonly unknown[] }) => q.queryKey[0] !== 'me' && q.queryKey[0] !== 'preview'

/** Collects events and invalidates the queries they affect, at most once per interval. */
function batchedInvalidation(client: QueryClient, user: string): (e: WorkspaceEvent) => void {
  const posts = new Set<string>()
  let accounts = false
  let matched = 0
  const domains = new Set<string>()
  let isPlanned = false
  const flush = () => {
    isPlanned = false
    if (posts.size > 0) {
      refreshPosts(client, posts)
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
      void client.invalidateQueries({ queryKey: ['series'] })
      for (const id of posts) void client.invalidateQueries({ queryKey: ['post', id] })
    }
    if (accounts) void client.invalidateQueries({ queryKey: ['accounts'] })
    if (matched > 0) {
      void client.invalidateQueries({ queryKey: ['saved-searches'] })
      notifyMatches(matched)
    }
    for (const domain of domains)
      for (const key of ['reading', 'selectors']) void client.invalidateQueries({ queryKey: [key, domain] })
    domains.clear()
    matched = 0
    posts.clear()
    accounts = false
  }
  return (e) => {
    if (e.post_id) posts.add(e.post_id)
    accounts ||= e.account_id !== undefined
    if (e.type === 'article_matched') matched++
    if (e.type === 'commented' && e.post_id && e.data?.mentions?.includes(user)) notifyMention(e.post_id)
    if (e.type.startsWith('selectors_') && e.data?.domain) domains.add(e.data.domain)
    if (isPlanned) return
    isPlanned = true
    setTimeout(flush, reloadInterval)
  }
}
