import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { type Connection, follow } from '../api/stream'
import { base } from '../boot'
import { refreshPosts } from './posts'
import { sayFound } from './say'

const Context = createContext<Connection>('connecting')

/** How the stream of the workspace's events stands. */
export const useConnection = () => useContext(Context)

interface WorkspaceEvent {
  type: string
  post_id?: string
  account_id?: string
  data?: { domain?: string }
}

/** Events come as fast as posts go out; lists are read again this often at most. */
const listRest = 400

/** Keeps what pages show up to date: each event makes stale what it is about. */
export function LiveProvider({ workspace, children }: { workspace: string; children: ReactNode }) {
  const client = useQueryClient()
  const [state, setState] = useState<Connection>('connecting')
  useEffect(() => {
    const stop = new AbortController()
    const stale = staleLater(client)
    void follow(`${base}/api/v1/events`, {
      event: (e) => stale(JSON.parse(e.data) as WorkspaceEvent),
      state: (now, resumed) => {
        setState(now)
        // Between the first reading of the pages and this stream something may have happened.
        if (now === 'live' && !resumed) void client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== 'me' && q.queryKey[0] !== 'preview' })
      },
      refused: () => void client.invalidateQueries({ queryKey: ['me'] }),
      // Whoever is logged out, or looks at another workspace in another tab, finds out now.
      closed: () => void client.invalidateQueries({ queryKey: ['me'] }),
    }, stop.signal)
    return () => stop.abort()
  }, [client, workspace])
  return <Context value={state}>{children}</Context>
}

function staleLater(client: QueryClient): (e: WorkspaceEvent) => void {
  const posts = new Set<string>()
  let accounts = false
  let matched = 0
  const domains = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    if (posts.size > 0) {
      refreshPosts(client, posts)
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
      void client.invalidateQueries({ queryKey: ['series'] })
      for (const id of posts) void client.invalidateQueries({ queryKey: ['post', id] })
    }
    if (accounts) void client.invalidateQueries({ queryKey: ['accounts'] })
    if (matched > 0) {
      void client.invalidateQueries({ queryKey: ['saved-searches'] })
      sayFound(matched)
    }
    for (const domain of domains) for (const key of ['reading', 'selectors']) void client.invalidateQueries({ queryKey: [key, domain] })
    domains.clear()
    matched = 0
    posts.clear()
    accounts = false
  }
  return (e) => {
    if (e.post_id) posts.add(e.post_id)
    accounts ||= e.account_id !== undefined
    if (e.type === 'article_matched') matched++
    if (e.type.startsWith('selectors_') && e.data?.domain) domains.add(e.data.domain)
    timer ??= setTimeout(flush, listRest)
  }
}
