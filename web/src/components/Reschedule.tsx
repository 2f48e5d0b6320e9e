import { Button, Menu } from '@mantine/core'
import { IconCalendarTime } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Post, unwrap } from '../api/client'
import { useAct } from '../lib/act'
import { refreshPosts } from '../lib/posts'
import { useMe } from '../lib/session'
import { addDays, format, toInstant, toWall } from '../lib/time'

/** The days from today on which a post can be scheduled again at its time of the day. */
export const laterDays = [1, 7] as const
type Later = (typeof laterDays)[number]

/** Moves a post that was not published to a later day, at the same time of the day. */
export function useReschedule() {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  return useAct<{ id: string; days: Later }, Post>({
    send: async ({ id, days }) => {
      const params = { path: { id } }
      const post = await unwrap(api.GET('/api/v1/posts/{id}', { params }))
      const zone = post.time_zone || me.workspace.time_zone
      const clock = toWall(post.scheduled_time ?? Date.now(), zone).slice(11, 16)
      const when = toInstant(`${addDays(toWall(Date.now(), zone), days)}T${clock}`, zone)
      const moved = await unwrap(
        api.PATCH('/api/v1/posts/{id}', {
          params: { ...params, header: ifMatchHeader(post.version) },
          body: { scheduled_time: when.toISOString() },
        }),
      )
      client.setQueryData(['post', id], moved)
      return moved
    },
    done: (post) =>
      t('reschedule.done', {
        time: format(post.scheduled_time ?? '', i18n.language, post.time_zone || me.workspace.time_zone, {
          weekday: 'short',
          day: 'numeric',
          month: 'short',
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
        }),
      }),
    settled: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['post', id] })
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
      refreshPosts(client)
    },
  })
}

/** The menu of later days. */
export function RescheduleMenu({ id, size }: { id: string; size?: 'xs' }) {
  const { t } = useTranslation()
  const move = useReschedule()
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          size={size}
          variant="default"
          data-do="reschedule"
          leftSection={<IconCalendarTime size={size ? 16 : 18} aria-hidden />}
          loading={move.isPending}
        >
          {t('reschedule.do')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {laterDays.map((days) => (
          <Menu.Item key={days} onClick={() => move.mutate({ id, days })}>
            {t(`reschedule.in.${days}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
