import { Group, Text } from '@mantine/core'
import type { ScheduleEventData } from '@mantine/schedule'
import { IconPlus, IconRepeat } from '@tabler/icons-react'
import dayjs from 'dayjs'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { Post, Schemas } from '../../api/client'
import { NetworkIcon, networkColor } from '../../components/network'
import { type AnyStatus, looks, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { toWall } from '../../lib/time'
import { foldOverflow, type Place, type Timed } from './overflow'
import type { Planned } from './planned'

/** Posts are moments; this is how tall they are drawn, in minutes. */
const height = 30

/** The subject of a calendar entry. */
export type Entry =
  | { post: Post; planned?: undefined; slot?: undefined; overflow?: undefined }
  | { planned: Planned; post?: undefined; slot?: undefined; overflow?: undefined }
  | { slot: FreeSlot; post?: undefined; planned?: undefined; overflow?: undefined }
  | { overflow: Overflow; post?: undefined; planned?: undefined; slot?: undefined }

/** Entries at a time that do not fit beside one another. */
export interface Overflow {
  hidden: number
  entries: Entry[]
}

/** A slot of a queue that no post has. */
export interface FreeSlot {
  group: Schemas['AccountGroup']
  at: string
}

export const entryOf = (e: ScheduleEventData) => e.payload as unknown as Entry
export const placeOf = (e: ScheduleEventData) => (e.payload as { place?: Place } | undefined)?.place

/** Problems come first wherever not everything is shown. */
const problems = new Set<AnyStatus>(['failed', 'uncertain', 'partly_posted', 'rejected'])
export const rankOf = ({ post, planned }: Entry): number =>
  post ? (problems.has(statusOf(post)) ? 0 : 1) : planned ? 2 : 3

/** The time of an entry in a zone. */
export const timeOf = ({ post, planned, slot }: Entry, zone: string): string =>
  toWall(post?.scheduled_time ?? planned?.at ?? slot?.at ?? 0, zone)

export type Colors = 'status' | 'network' | 'label'

/** What a post is drawn in: by its status, its network, or its campaign or first label. */
export function colorOf(post: Post, colors: Colors, labels: Schemas['Label'][]): string {
  if (colors === 'status') return looks[statusOf(post)].color
  if (colors === 'network') return networkColor(post.targets[0]?.network ?? '')
  return labels.find((l) => post.labels?.includes(l.id))?.color ?? 'gray'
}

/** An entry of the last half hour is drawn in it: it does not extend into the next day, and is as tall as others. */
const lastStart = 24 * 60 - height

const stretch = (wall: string) => {
  const start = minutesOf(wall) > lastStart ? `${wall.slice(0, 10)} ${clockOf(lastStart)}` : wall.replace('T', ' ')
  return { start, end: dayjs(start).add(height, 'minute').subtract(1, 'second').format('YYYY-MM-DD HH:mm:ss') }
}

/** The entries of some days, of which at most as many as there are columns are beside one another. */
export function eventsOf(
  posts: Post[],
  planned: Planned[],
  slots: FreeSlot[],
  zone: string,
  color: (post: Post) => string,
  t: TFunction,
  columns: number,
): ScheduleEventData[] {
  const days = new Map<string, Timed<Entry>[]>()
  const add = (entry: Entry) => {
    const at = timeOf(entry, zone)
    const day = at.slice(0, 10)
    const timed = { start: Math.min(minutesOf(at), lastStart), rank: rankOf(entry), item: entry }
    const all = days.get(day)
    if (all) all.push(timed)
    else days.set(day, [timed])
  }
  for (const post of posts) if (post.scheduled_time) add({ post })
  for (const p of planned) add({ planned: p })
  for (const slot of slots) add({ slot })
  return [...days].flatMap(([day, all]) => {
    const { shown, overflow } = foldOverflow(all, columns, height)
    return [
      ...shown.map(({ item, place }) => ({
        ...nameOf(item, t),
        ...stretch(timeOf(item, zone)),
        color: item.post ? color(item.post) : 'gray',
        payload: { ...item, place },
      })),
      ...overflow.map(({ start, hidden, items }) => ({
        id: `overflow ${day} ${start}`,
        title: t('calendar.overflow', { count: items.length }),
        ...stretch(`${day}T${clockOf(start)}`),
        color: 'gray',
        payload: { overflow: { hidden, entries: items } },
      })),
    ]
  })
}

const minutesOf = (wall: string) => Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14, 16))
const clockOf = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}:00`

function nameOf({ post, planned, slot }: Entry, t: TFunction): { id: string; title: string } {
  if (post) return { id: post.id, title: post.content || t('post.noText') }
  if (planned)
    return {
      id: `${planned.series.id} ${planned.occurrence}`,
      title: planned.series.template.content || t('post.noText'),
    }
  return { id: `${slot?.group.id} ${slot?.at}`, title: t('calendar.freeSlot', { name: slot?.group.name ?? '' }) }
}

/** One entry; the essentials fit into a line. */
export function Body({ entry, zone }: { entry: Entry; zone: string }) {
  const { t } = useTranslation()
  if (entry.overflow)
    return (
      <Text span size="xs" fw={700} data-overflow={entry.overflow.hidden}>
        +{entry.overflow.hidden}
      </Text>
    )
  if (entry.planned) {
    const { series, at } = entry.planned
    return (
      <Group gap={4} wrap="nowrap" className="dl-event" data-planned={series.id}>
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
      <Group gap={4} wrap="nowrap" className="dl-event" data-free-slot={group.name}>
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
    <Group gap={4} wrap="nowrap" className="dl-event" data-post={post.id} data-status={status}>
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
