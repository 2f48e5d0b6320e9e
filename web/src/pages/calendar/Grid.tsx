import '@mantine/schedule/styles.css'
import 'dayjs/locale/vi'
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { DayView, MonthView, type ScheduleEventData, WeekView } from '@mantine/schedule'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatch, type Post, type PostStatus, type Schemas, take } from '../../api/client'
import { AccountName, NetworkIcon } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Failed } from '../../components/states'
import { looks, StatusBadge, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { sayDone, sayFailed } from '../../lib/say'
import { useAtLeast } from '../../lib/session'
import { toInstant, toWall } from '../../lib/time'
import type { CalendarSearch } from '../../router'
import { refreshPosts } from '../../lib/posts'

interface Props {
  search: CalendarSearch
  view: 'month' | 'week' | 'day'
  date: string
  zone: string
}

/** Posts are moments; this is how tall they are drawn. */
const height = 30
const most = 2000 // posts in one view

/** All posts of the stretch that is shown, page after page. */
async function postsBetween(from: Date, to: Date, search: CalendarSearch, signal: AbortSignal): Promise<Post[]> {
  const out: Post[] = []
  for (let cursor: string | undefined; out.length < most; ) {
    const page: Schemas['PostPage'] = await take(api.GET('/api/v1/posts', {
      signal,
      params: {
        query: {
          from: from.toISOString(), to: to.toISOString(), order: 'asc', limit: 200, ...(cursor ? { cursor } : {}),
          ...(search.status ? { status: [search.status as PostStatus] } : {}), ...(search.account ? { account: search.account } : {}),
        },
      },
    }))
    out.push(...page.posts)
    cursor = page.next_cursor
    if (!cursor) break
  }
  return out
}

export default function Grid({ search, view, date, zone }: Props) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const may = useAtLeast('author')
  const [open, setOpen] = useState<Post>()
  const day = dayjs(date)
  const monday = (d: dayjs.Dayjs) => d.subtract((d.day() + 6) % 7, 'day')
  const first = view === 'month' ? monday(day.startOf('month')) : view === 'week' ? monday(day) : day
  const from = toInstant(first.format('YYYY-MM-DDT00:00'), zone)
  const to = toInstant(first.add(view === 'month' ? 42 : view === 'week' ? 7 : 1, 'day').format('YYYY-MM-DDT00:00'), zone)
  const key = ['posts', 'between', from.toISOString(), to.toISOString(), search.status, search.account]
  const posts = useQuery({ queryKey: key, queryFn: ({ signal }) => postsBetween(from, to, search, signal) })

  const move = useMutation({
    mutationFn: ({ post, when }: { post: Post; when: Date }) =>
      take(api.PATCH('/api/v1/posts/{id}', { params: { path: { id: post.id }, header: ifMatch(post.version) }, body: { scheduled_time: when.toISOString() } })),
    onMutate: ({ post, when }) => {
      // It stays where it was dropped, until the answer says otherwise.
      const before = client.getQueryData<Post[]>(key)
      client.setQueryData<Post[]>(key, (all) => all?.map((p) => (p.id === post.id ? { ...p, scheduled_time: when.toISOString() } : p)))
      return { before }
    },
    onSuccess: (moved) => {
      setOpen(undefined)
      sayDone(t('calendar.moved'))
      client.setQueryData(['post', moved.id], moved)
      for (const w of moved.warnings ?? []) sayFailed(new Error(w.message))
    },
    onError: (error, _, context) => {
      client.setQueryData(key, context?.before)
      sayFailed(error)
    },
    onSettled: () => refreshPosts(client),
  })

  const events: ScheduleEventData[] = (posts.data ?? []).flatMap((post) => {
    if (!post.scheduled_time) return []
    const start = toWall(post.scheduled_time, zone).replace('T', ' ')
    // One at the end of a day does not reach into the next.
    const end = dayjs(start).add(height, 'minute')
    const midnight = dayjs(start).endOf('day')
    return [{ id: post.id, title: post.content || t('post.noText'), start, end: (end.isAfter(midnight) ? midnight : end).format('YYYY-MM-DD HH:mm:ss'), color: looks[statusOf(post)].color, payload: { post } }]
  })
  const postOf = (e: ScheduleEventData) => (e.payload as { post: Post }).post
  const common = {
    date,
    events,
    locale: i18n.language,
    withHeader: false,
    weekendDays: [], // in red they would be hard to read
    withEventsDragAndDrop: may,
    canDragEvent: (e: ScheduleEventData) => may && ['draft', 'scheduled'].includes(postOf(e).status),
    onEventDrop: ({ event, newStart }: { event: ScheduleEventData; newStart: string }) => move.mutate({ post: postOf(event), when: toInstant(newStart, zone) }),
    onEventClick: (e: ScheduleEventData) => setOpen(postOf(e)),
    renderEventBody: (e: ScheduleEventData) => <Body post={postOf(e)} zone={zone} />,
    labels: { moreLabel: (count: number) => t('calendar.more', { count }), more: t('calendar.moreWord'), noEvents: t('calendar.none'), allDay: t('calendar.allDay'), timeSlot: t('calendar.slot'), weekday: t('calendar.weekday') },
  }
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Mantine names the days of a week by their dates, which are not what is seen (WCAG 2.2, 2.5.3).
    for (const label of box.current?.querySelectorAll('.mantine-WeekView-weekViewDayLabel') ?? []) label.removeAttribute('aria-label')
  })
  const write = (at: string) => may && void navigate({ to: '/compose', search: { at } })
  return (
    <>
      {posts.error && <Failed error={posts.error} retry={() => void posts.refetch()} />}
      {(posts.data?.length ?? 0) >= most && <Alert color="yellow">{t('calendar.tooMany', { count: most })}</Alert>}
      <div ref={box} className="dl-card" style={{ overflow: 'hidden' }} data-calendar={view} aria-busy={posts.isFetching}>
        {view === 'month' && <MonthView {...common} maxEventsPerDay={3} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }} getDayProps={(d) => ({ 'data-day': d })} onDayClick={(d) => void navigate({ to: '/calendar', search: (was) => ({ ...was, view: 'day' as const, date: d }) })} />}
        {view === 'week' && <WeekView {...common} {...ofHours(zone)} onTimeSlotClick={({ slotStart }) => write(slotStart.slice(0, 16).replace(' ', 'T'))} />}
        {view === 'day' && <DayView {...common} {...ofHours(zone)} onTimeSlotClick={({ slotStart }) => write(slotStart.slice(0, 16).replace(' ', 'T'))} />}
      </div>
      {open && <Peek key={open.id} post={posts.data?.find((p) => p.id === open.id) ?? open} zone={zone} close={() => setOpen(undefined)} move={(when) => move.mutate({ post: open, when })} moving={move.isPending} may={may} />}
    </>
  )
}

const ofHours = (zone: string) => ({
  withAllDaySlots: false,
  intervalMinutes: 30,
  eventDragInterval: 15,
  startScrollTime: '07:00:00',
  scrollAreaProps: { mah: 'max(360px, calc(100dvh - 300px))', viewportProps: { tabIndex: 0 } },
  highlightToday: true,
  getCurrentTime: () => toWall(Date.now(), zone).replace('T', ' '),
})

function Body({ post, zone }: { post: Post; zone: string }) {
  const { t } = useTranslation()
  const status = statusOf(post)
  const { icon: Icon } = looks[status]
  return (
    <Group gap={4} wrap="nowrap" data-post={post.id} data-status={status}>
      <Icon size={13} aria-label={t(`status.${status}`)} role="img" style={{ flexShrink: 0 }} />
      {[...new Set(post.targets.map((x) => x.network))].slice(0, 3).map((n) => (
        <NetworkIcon key={n} network={n} size={13} />
      ))}
      <Text span size="xs" fw={600} style={{ flexShrink: 0 }}>
        {post.scheduled_time && <Time at={post.scheduled_time} zone={zone} look="clock" />}
      </Text>
      <Text span size="xs" truncate>
        {post.content || t('post.noText')}
      </Text>
    </Group>
  )
}

/** A post in short, and the way to move it without dragging (WCAG 2.2, 2.5.7). */
function Peek({ post, zone, close, move, moving, may }: { post: Post; zone: string; close: () => void; move: (when: Date) => void; moving: boolean; may: boolean }) {
  const { t } = useTranslation()
  const now = post.scheduled_time ? toWall(post.scheduled_time, zone).slice(0, 16) : ''
  const [when, setWhen] = useState(now)
  const movable = may && (post.status === 'scheduled' || post.status === 'draft')
  return (
    <Modal opened onClose={close} title={<StatusBadge status={statusOf(post)} />} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack gap="sm">
        <Text className="dl-text" lineClamp={8}>
          {post.content || t('post.noText')}
        </Text>
        {post.targets.map((x) => (
          <AccountName key={x.id} network={x.network} handle={x.handle} />
        ))}
        {movable ? (
          <Group align="flex-end" gap="xs">
            <TextInput type="datetime-local" label={t('calendar.moveTo', { zone })} value={when} onChange={(e) => setWhen(e.currentTarget.value)} />
            <Button variant="default" disabled={when === '' || when === now} loading={moving} onClick={() => move(toInstant(when, zone))}>
              {t('calendar.move')}
            </Button>
          </Group>
        ) : (
          post.scheduled_time && (
            <Text size="sm" c="dimmed">
              <Time at={post.scheduled_time} zone={zone} />
            </Text>
          )
        )}
        <Group justify="flex-end" gap="xs">
          {movable && (
            <LinkButton variant="default" to="/compose" search={{ id: post.id }}>
              {t('post.edit')}
            </LinkButton>
          )}
          <LinkButton to="/posts/$id" params={{ id: post.id }}>
            {t('post.open')}
          </LinkButton>
        </Group>
      </Stack>
    </Modal>
  )
}
