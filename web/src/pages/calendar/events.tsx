import { Group, Text } from '@mantine/core'
import type { ScheduleEventData } from '@mantine/schedule'
import { IconPlus, IconRepeat } from '@tabler/icons-react'
import dayjs from 'dayjs'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Post, Schemas } from '../../api/client'
import { NetworkIcon, networkColor } from '../../components/network'
import { looks, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { toWall } from '../../lib/time'
import type { Planned } from './planned'

/** Posts are moments; this is how tall they are drawn, in minutes. */
const height = 30

/** The subject of a calendar entry. */
export type Entry =
  | { post: Post; planned?: undefined; slot?: undefined }
  | { planned: Planned; post?: undefined; slot?: undefined }
  | { slot: FreeSlot; post?: undefined; planned?: undefined }

/** A slot of a queue that no post has. */
export interface FreeSlot {
  group: Schemas['AccountGroup']
  at: string
}

export const entryOf = (e: ScheduleEventData) => e.payload as unknown as Entry

export type Colors = 'status' | 'network' | 'label'

/** What a post is drawn in: by its status, its network, or its campaign or first label. */
export function colorOf(post: Post, colors: Colors, labels: Schemas['Label'][]): string {
  if (colors === 'status') return looks[statusOf(post)].color
  if (colors === 'network') return networkColor(post.targets[0]?.network ?? '')
  return labels.find((l) => post.labels?.includes(l.id))?.color ?? 'gray'
}

const stretch = (at: string | Date, zone: string) => {
  const start = toWall(at, zone).replace('T', ' ')
  // An entry at the end of a day does not extend into the next one.
  const end = dayjs(start).add(height, 'minute')
  const midnight = dayjs(start).endOf('day')
  return { start, end: (end.isAfter(midnight) ? midnight : end).format('YYYY-MM-DD HH:mm:ss') }
}

export function eventsOf(
  posts: Post[],
  planned: Planned[],
  slots: FreeSlot[],
  zone: string,
  color: (post: Post) => string,
  t: TFunction,
): ScheduleEventData[] {
  const stored = posts.flatMap((post) =>
    post.scheduled_time
      ? [
          {
            id: post.id,
            title: post.content || t('post.noText'),
            ...stretch(post.scheduled_time, zone),
            color: color(post),
            payload: { post },
          },
        ]
      : [],
  )
  const ahead = planned.map((p) => ({
    id: `${p.series.id} ${p.occurrence}`,
    title: p.series.template.content || t('post.noText'),
    ...stretch(p.at, zone),
    color: 'gray',
    payload: { planned: p },
  }))
  const free = slots.map((slot) => ({
    id: `${slot.group.id} ${slot.at}`,
    title: t('calendar.freeSlot', { name: slot.group.name }),
    ...stretch(slot.at, zone),
    color: 'gray',
    payload: { slot },
  }))
  return [...stored, ...ahead, ...free]
}

/** One entry; the essentials fit into a line. */
export function Body({ entry, zone }: { entry: Entry; zone: string }) {
  const { t } = useTranslation()
  if (entry.planned) {
    const { series, at } = entry.planned
    return (
      <Group gap={4} wrap="nowrap" data-planned={series.id}>
        <IconRepeat size={13} aria-label={t('series.planned')} role="img" style={{ flexShrink: 0 }} />
        <Text span size="xs" fw={600} style={{ flexShrink: 0 }}>
          <Time at={at.toISOString()} zone={zone} look="clock" />
        </Text>
        <Text span size="xs" truncate>
          {series.template.content || t('post.noText')}
        </Text>
      </Group>
    )
  }
  if (entry.slot) {
    const { group, at } = entry.slot
    return (
      <Group gap={4} wrap="nowrap" data-free-slot={group.name}>
        <IconPlus
          size={13}
          aria-label={t('calendar.freeSlot', { name: group.name })}
          role="img"
          style={{ flexShrink: 0 }}
        />
        <Text span size="xs" fw={600} style={{ flexShrink: 0 }}>
          <Time at={at} zone={zone} look="clock" />
        </Text>
        <Text span size="xs" truncate>
          {group.name}
        </Text>
      </Group>
    )
  }
  const { post } = entry
  const status = statusOf(post)
  const { icon: Icon } = looks[status]
  return (
    <Group gap={4} wrap="nowrap" data-post={post.id} data-status={status}>
      <Icon size={13} aria-label={t(`status.${status}`)} role="img" style={{ flexShrink: 0 }} />
      {[...new Set(post.targets.map((x) => x.network))].slice(0, 3).map((n) => (
        <NetworkIcon key={n} network={n} size={13} />
      ))}
      {post.series_id && <IconRepeat size={13} aria-label={t('series.one')} role="img" style={{ flexShrink: 0 }} />}
      <Text span size="xs" fw={600} style={{ flexShrink: 0 }}>
        {post.scheduled_time && <Time at={post.scheduled_time} zone={zone} look="clock" />}
      </Text>
      <Text span size="xs" truncate>
        {post.content || t('post.noText')}
      </Text>
    </Group>
  )
}
