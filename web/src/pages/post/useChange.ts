import { useQueryClient } from '@tanstack/react-query'
import { ifMatchHeader, type Post } from '../../api/client'
import { useAct } from '../../lib/act'
import { refreshPosts } from '../../lib/posts'

interface Change {
  /** What it did, in a sentence. */
  done: string
  send: (params: { path: { id: string }; header: { 'If-Match'?: string } }) => Promise<Post>
  /** Called when the change is accepted. */
  accepted?: () => void
}

/** Sends a change of a post, shows the result, and says what happened. Without a version, it applies to any. */
export function useChange(post: Pick<Post, 'id'> & { version?: number }) {
  const client = useQueryClient()
  return useAct<Change, Post>({
    send: async ({ send, accepted }) => {
      const changed = await send({
        path: { id: post.id },
        header: post.version === undefined ? {} : ifMatchHeader(post.version),
      })
      client.setQueryData(['post', changed.id], changed)
      accepted?.()
      return changed
    },
    done: (_, { done }) => done,
    settled: () => {
      void client.invalidateQueries({ queryKey: ['post', post.id] })
      refreshPosts(client)
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
    },
  })
}
