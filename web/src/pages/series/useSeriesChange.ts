import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../../api/client'
import { refreshPosts } from '../../lib/posts'
import { notifySuccess, notifyError } from '../../lib/notify'

type Series = Schemas['Series']

/** Sends a change of a series and shows the result. */
export function useSeriesChange() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ send }: { send: () => Promise<Series>; done?: string }) => send(),
    onSuccess: (_, { done }) => done && notifySuccess(done),
    onError: notifyError,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['series'] })
      refreshPosts(client)
    },
  })
}
