import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../api/client'
import { refreshPosts } from '../../lib/posts'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'

type Series = Schemas['Series']

interface Change {
  send: () => Promise<Series>
  done?: string
  /** The status of this series is shown at once. */
  id?: string
  status?: Series['status']
  undo?: (changed: Series) => Change
}

/** Sends a change of a series and shows the result. */
export function useSeriesChange() {
  const client = useQueryClient()
  return useAct<Change, Series>({
    send: ({ send }) => send(),
    show: ({ id, status }) => {
      const lists = status ? client.getQueryCache().findAll({ queryKey: ['series'] }) : []
      const restore = lists.map(({ queryKey }) =>
        showChange<Series>(client, queryKey, (s) => (s.id === id && status ? { ...s, status } : s)),
      )
      return () => {
        for (const one of restore) one()
      }
    },
    done: (_, { done }) => done,
    undo: (changed, { undo }) => undo?.(changed),
    about: ['series'],
    settled: () => refreshPosts(client),
  })
}
