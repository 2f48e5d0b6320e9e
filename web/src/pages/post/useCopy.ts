import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Post, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'
import { firstWords, refreshPosts } from '../../lib/posts'
import { contentOf, draftOf } from '../compose/draft'

/** Creates a draft with the content of a post, and opens it. */
export function useCopy() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  return useAct<Post, Post>({
    send: async (post) => {
      const { content = '', ...rest } = contentOf(draftOf(post))
      const made = await unwrap(
        api.POST('/api/v1/posts', {
          params: { header: idempotencyHeader() },
          body: { ...rest, content, draft: true },
        }),
      )
      client.setQueryData(['post', made.id], made)
      await navigate({ to: '/compose', search: { id: made.id } })
      return made
    },
    done: (made) => t('post.duplicated', { post: firstWords(made.content, 40) }),
    failed: () => t('post.notDuplicated'),
    settled: () => refreshPosts(client),
  })
}
