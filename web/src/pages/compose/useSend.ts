import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, idempotencyHeader, type Post, unwrap } from '../../api/client'
import { refreshPosts } from '../../lib/posts'
import { type Rule, formatRule } from '../../lib/rule'
import { notifySuccess, notifyError } from '../../lib/notify'
import { templateOf } from './draft'
import { forgetDraft, type useSaving } from './useSaving'

export type Deed = 'schedule' | 'queue' | 'repeat' | 'now' | 'submit' | 'save' | 'delete'

/** Stores the content, and submits or schedules it. */
export function useSend(saving: ReturnType<typeof useSaving>, slot?: { group: string; when: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: async ({ what, rule }: { what: Deed; rule?: Rule }): Promise<Post> => {
      const saved = what === 'delete' ? saving.stored : await saving.save()
      if (!saved) throw new Error(t('compose.saveFailed'))
      const draft = saving.current()
      const params = { path: { id: saved.id }, header: ifMatchHeader(saved.version) }
      switch (what) {
        case 'schedule':
          return unwrap(
            api.POST('/api/v1/posts/{id}/schedule', {
              params,
              body: {
                scheduled_time: draft.when,
                time_zone: draft.zone,
                ...(slot?.when === draft.when ? { queue_group_id: slot.group } : {}),
              },
            }),
          )
        case 'queue':
          return unwrap(api.POST('/api/v1/posts/{id}/schedule', { params, body: { when: 'next_free' } }))
        case 'repeat':
          if (rule)
            await unwrap(
              api.POST('/api/v1/series', {
                params: { header: idempotencyHeader() },
                body: {
                  rule: formatRule(rule),
                  starts: draft.when,
                  time_zone: draft.zone,
                  template: templateOf(draft),
                },
              }),
            )
          return unwrap(api.DELETE('/api/v1/posts/{id}', { params })) // the draft has become the series
        case 'now':
          return unwrap(api.POST('/api/v1/posts/{id}/publish-now', { params }))
        case 'submit':
          return unwrap(api.POST('/api/v1/posts/{id}/submit', { params }))
        case 'delete':
          return unwrap(api.DELETE('/api/v1/posts/{id}', { params }))
        case 'save':
          return saved
      }
    },
    onSuccess: async (post, { what }) => {
      saving.accept(post)
      forgetDraft(post)
      client.setQueryData(['post', post.id], post)
      refreshPosts(client)
      if (what === 'delete') {
        await navigate({ to: '/calendar' })
        return
      }
      notifySuccess(t(post.approval?.state === 'pending' ? 'compose.done.submit' : `compose.done.${what}`))
      if (what === 'repeat') {
        void client.invalidateQueries({ queryKey: ['series'] })
        await navigate({ to: '/series' })
      } else await navigate({ to: '/posts/$id', params: { id: post.id } })
    },
    onError: notifyError,
  })
  return {
    send: (what: Deed, rule?: Rule) => act.mutate({ what, rule }),
    doing: act.isPending ? act.variables.what : undefined,
  }
}
