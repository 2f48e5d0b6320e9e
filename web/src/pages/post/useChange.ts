import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ifMatchHeader, type Post } from '../../api/client'
import { refreshPosts } from '../../lib/posts'
import { notifyError } from '../../lib/notify'

/** Sends a change of a post and shows the result. Without a version, it applies to any. */
export function useChange(post: Pick<Post, 'id'> & { version?: number }) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (send: (params: { path: { id: string }; header: { 'If-Match'?: string } }) => Promise<Post>) =>
      send({ path: { id: post.id }, header: post.version === undefined ? {} : ifMatchHeader(post.version) }),
    onSuccess: (changed) => client.setQueryData(['post', changed.id], changed),
    onError: notifyError,
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['post', post.id] })
      refreshPosts(client)
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
    },
  })
}
