import '@mantine/schedule/styles.css'
import 'dayjs/locale/vi'
import { Alert, UnstyledButton } from '@mantine/core'
import { DayView, type ScheduleEventData, WeekView } from '@mantine/schedule'
import { useElementSize, useInterval, useMergedRef, useViewportSize } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import dayjs from 'dayjs'
import {
  type ComponentProps,
  type CSSProperties,
  type MouseEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Post, unwrap } from '../../api/client'
import { Failed } from '../../components/states'
import { warningText } from '../../i18n/message'
import { refreshPosts } from '../../lib/posts'
import { activeSeriesQuery, groupsQuery, labelsQuery, slotsQuery } from '../../lib/queries'
import { notifyError, notifySuccess, notifyUndo } from '../../lib/notify'
import { useAtLeast } from '../../lib/session'
import { format, mondayOf, toInstant, toWall } from '../../lib/time'
import type { CalendarSearch } from './search'
import { Body, colorOf, type Colors, type Entry, entryOf, eventsOf, placeOf } from './events'
import { asked, isNarrowed, wanted } from './filter'
import { linesOf, Month } from './Month'
import { Peek, PeekOverflow, PeekPlanned } from './Peek'
import { plannedBetween } from './planned'
import { maxPosts, postsBetween } from './postsBetween'

interface Props {
  search: CalendarSearch
  view: 'month' | 'week' | 'day'
  date: string
  zone: string
  /** A second time zone. */
  second?: string
  colors: Colors
}

const none: never[] = []
export default function Grid({ search, view, date, zone, second, colors }: Props) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const may = useAtLeast('author')
  const [open, setOpen] = useState<{ entry: Entry; at: HTMLElement }>()
  const [, setMinute] = useState(0)
  useInterval(() => setMinute((m) => m + 1), 60_000, { autoInvoke: true }) // the current time moves along the labels of the hours
  const day = dayjs(date)
  const first = view === 'day' ? day : dayjs(mondayOf(view === 'month' ? `${date.slice(0, 7)}-01` : date))
  const from = toInstant(first.format('YYYY-MM-DDT00:00'), zone)
  const to = toInstant(
    first.add(view === 'month' ? 42 : view === 'week' ? 7 : 1, 'day').format('YYYY-MM-DDT00:00'),
    zone,
  )
  const key = ['posts', 'between', from.toISOString(), to.toISOString(), asked(search)]
  const posts = useQuery({ queryKey: key, queryFn: ({ signal }) => postsBetween(from, to, search, signal) })
  const series = useQuery(activeSeriesQuery).data ?? none

  const move = useMutation({
    mutationFn: ({ post, when }: { post: Post; when: Date; undone?: boolean }) =>
      unwrap(
        api.PATCH('/api/v1/posts/{id}', {
          params: { path: { id: post.id }, header: ifMatchHeader(post.version) },
          body: { scheduled_time: when.toISOString() },
        }),
      ),
    onMutate: ({ post, when }) => {
      // It stays where it was dropped, unless the request fails.
      const before = client.getQueryData<Post[]>(key)
      client.setQueryData<Post[]>(key, (all) =>
        all?.map((p) => (p.id === post.id ? { ...p, scheduled_time: when.toISOString() } : p)),
      )
      return { before }
    },
    onSuccess: (moved, { post: { scheduled_time: before }, undone }) => {
      setOpen(undefined)
      if (!undone && before)
        notifyUndo(t('calendar.moved'), () => mutate({ post: moved, when: new Date(before), undone: true }))
      else notifySuccess(t(undone ? 'undone' : 'calendar.moved'))
      client.setQueryData(['post', moved.id], moved)
      for (const w of moved.warnings ?? []) notifyError(new Error(warningText(w)))
    },
    onError: (error, _, context) => {
      client.setQueryData(key, context?.before)
      notifyError(error)
    },
    onSettled: () => refreshPosts(client),
  })

  const groups = useQuery(groupsQuery).data ?? none
  const slots = useQuery({ ...slotsQuery(from, to), enabled: groups.some((g) => g.slots.length > 0) }).data ?? none
  const [start, end] = [from.getTime(), to.getTime()]
  const labels = useQuery({ ...labelsQuery, enabled: colors === 'label' }).data ?? none
  const color = useCallback((post: Post) => colorOf(post, colors, labels), [colors, labels])
  // Lay out a thousand posts once, not with every other change of the page.
  const shown = useMemo(() => {
    const all = (posts.data ?? []).filter(wanted(search))
    // A filter for posts hides occurrences without a post.
    const planned =
      isNarrowed(search) || search.account || search.network || !posts.data
        ? []
        : plannedBetween(series, posts.data, new Date(start), new Date(end))
    const free =
      !may || isNarrowed(search)
        ? []
        : slots.flatMap((s) => {
            const group = groups.find((g) => g.id === s.queue_group_id)
            return group && !s.post_id && (!search.account || group.accounts.includes(search.account))
              ? [{ group, at: s.at }]
              : []
          })
    return { all, planned, free }
  }, [posts.data, series, slots, groups, search, start, end, may])
  const { ref: measured, width } = useElementSize()
  const columns = columnsOf(view, width)
  const events = useMemo(
    () => (view === 'month' ? none : eventsOf(shown.all, shown.planned, shown.free, zone, color, t, columns)),
    [shown, view, zone, color, t, columns],
  )
  const lines = useMemo(
    () => (view === 'month' ? linesOf(shown.all, shown.planned, shown.free, zone) : new Map<string, never>()),
    [shown, view, zone],
  )
  // Rerendering a card ends its drag, so updates wait until the drag ends.
  const [held, setHeld] = useState<{ stretch: string; events: ScheduleEventData[]; lines: typeof lines }>()
  const stretch = `${view} ${date} ${zone}`
  const choose = useCallback(
    (entry: Entry, at: HTMLElement) => {
      if (entry.slot)
        void navigate({
          to: '/compose',
          search: { at: toWall(entry.slot.at, zone).slice(0, 16), queue: entry.slot.group.id },
        })
      else setOpen({ entry, at })
    },
    [navigate, zone],
  )
  const showDay = useCallback(
    (d: string) => void navigate({ to: '/calendar', search: (was) => ({ ...was, view: 'day' as const, date: d }) }),
    [navigate],
  )
  const { mutate } = move
  const drop = useCallback((post: Post, when: string) => mutate({ post, when: toInstant(when, zone) }), [mutate, zone])
  const dragging = (now: boolean) => setHeld(now ? { stretch, events, lines } : undefined)
  const common = {
    date,
    events: held?.stretch === stretch ? held.events : events,
    locale: i18n.language,
    withHeader: false,
    weekendDays: [], // in red they would be hard to read
    withEventsDragAndDrop: may,
    canDragEvent: (e: ScheduleEventData) => may && ['draft', 'scheduled'].includes(entryOf(e).post?.status ?? ''),
    onEventDragStart: () => setHeld({ stretch, events, lines }),
    onEventDragEnd: () => setHeld(undefined),
    onEventDrop: ({ event, newStart }: { event: ScheduleEventData; newStart: string }) => {
      const { post } = entryOf(event)
      if (post) move.mutate({ post, when: toInstant(newStart, zone) })
    },
    onEventClick: (e: ScheduleEventData, { currentTarget }: MouseEvent<HTMLButtonElement>) =>
      choose(entryOf(e), currentTarget),
    // The view of a day sets insetInlineStart, that of a week left. With both, the one that changed last would count.
    renderEvent: (e: ScheduleEventData, { style: { insetInlineStart, ...style } = {}, ...props }: EventProps) => (
      <UnstyledButton {...props} style={{ left: insetInlineStart, ...style, ...placed(e) }} />
    ),
    renderEventBody: (e: ScheduleEventData) => <Body entry={entryOf(e)} zone={zone} />,
    labels: {
      moreLabel: (count: number) => t('calendar.more', { count }),
      more: t('calendar.moreWord'),
      noEvents: t('calendar.none'),
      week: t('calendar.week'),
      allDay: t('calendar.allDay'),
      timeSlot: t('calendar.slot'),
      weekday: t('calendar.weekday'),
    },
  }
  const box = useRef<HTMLDivElement>(null)
  const boxRef = useMergedRef(box, measured)
  useEffect(() => {
    // Mantine's accessible names of weekdays differ from the visible labels (WCAG 2.2, 2.5.3).
    for (const label of box.current?.querySelectorAll('.mantine-WeekView-weekViewDayLabel') ?? [])
      label.removeAttribute('aria-label')
    // Mantine names slots by their ISO times, in the week "Time 2026-11-29 00:30:00 - 01:00:00".
    for (const slot of box.current?.querySelectorAll<HTMLElement>('[class*=DaySlot], [class*=dayViewSlot]') ?? []) {
      const [, day = date, clock] = /(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d):00 - /.exec(slot.ariaLabel ?? '') ?? []
      if (clock)
        slot.ariaLabel = t('calendar.slotAt', { time: format(`${day}T${clock}Z`, i18n.language, 'UTC', slotLook) })
    }
  })
  const today = toWall(Date.now(), zone).slice(0, 10)
  const { height } = useViewportSize()
  // As many posts as fit into the window; on busy days some more, and the page scrolls.
  const perDay = useMemo(() => {
    const fitting = Math.floor(((height - 340) / 5 - 34) / 26)
    let busiest = 0
    for (const day of lines.values()) busiest = Math.max(busiest, day.lines.length)
    return Math.min(10, Math.max(3, fitting, Math.min(8, busiest)))
  }, [lines, height])
  const column = dayjs(today).diff(first, 'day')
  // biome-ignore lint/correctness/useExhaustiveDependencies: another time zone lays the week out again
  useEffect(() => {
    // A week is wider than a phone's screen: scroll to today.
    const hours = box.current?.querySelector('[data-hours]')
    if (hours && view === 'week' && column >= 0 && column < 7) hours.scrollLeft = (column / 7) * hours.scrollWidth
  }, [view, column, zone])
  const write = (at: string) => may && void navigate({ to: '/compose', search: { at } })
  const current = from.getTime() <= Date.now() && Date.now() < to.getTime()
  const hours = {
    ...ofHours(zone, second, first.format('YYYY-MM-DD'), current),
    onTimeSlotClick: ({ slotStart }: { slotStart: string }) => void write(slotStart.slice(0, 16).replace(' ', 'T')),
  }
  const close = () => setOpen(undefined)
  const openPost = open?.entry.post && (posts.data?.find((p) => p.id === open.entry.post?.id) ?? open.entry.post)
  return (
    <>
      {posts.error && <Failed error={posts.error} retry={() => void posts.refetch()} />}
      {(posts.data?.length ?? 0) >= maxPosts && (
        <Alert color="yellow">{t('calendar.tooMany', { count: maxPosts })}</Alert>
      )}
      <div
        ref={boxRef}
        className="dl-card"
        style={{ overflow: 'hidden', '--dl-week-day': `${weekDayWidth}px` } as CSSProperties}
        data-calendar={view}
        aria-busy={posts.isFetching}
      >
        {view === 'month' && (
          <Month
            first={first.format('YYYY-MM-DD')}
            month={date.slice(0, 7)}
            today={today}
            perDay={perDay}
            lines={held?.stretch === stretch ? held.lines : lines}
            may={may}
            colorOf={color}
            open={choose}
            showDay={showDay}
            drop={drop}
            dragging={dragging}
          />
        )}
        {/* Another period or time zone has its own scroll position, so the view is mounted again. */}
        {view === 'week' && <WeekView key={`${first.format('YYYY-MM-DD')} ${zone}`} {...common} {...hours} />}
        {view === 'day' && <DayView key={`${date} ${zone}`} {...common} {...hours} />}
      </div>
      {openPost && open && (
        <Peek
          key={openPost.id}
          post={openPost}
          at={open.at}
          zone={zone}
          second={second}
          close={close}
          move={(when) => move.mutate({ post: openPost, when })}
          moving={move.isPending}
          may={may}
        />
      )}
      {open?.entry.planned && <PeekPlanned planned={open.entry.planned} at={open.at} zone={zone} close={close} />}
      {open?.entry.overflow && (
        <PeekOverflow overflow={open.entry.overflow} at={open.at} zone={zone} close={close} choose={choose} />
      )}
    </>
  )
}

const slotLook = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' } as const

type EventProps = ComponentProps<'button'> & Record<string, unknown>

/** A overflow's sign, in pixels. */
const overflowWidth = 34

/** Where an entry of a time with many entries, and the sign for what is folded there, are drawn. */
function placed(e: ScheduleEventData): CSSProperties {
  if (entryOf(e).overflow)
    return { left: `calc(100% - ${overflowWidth + 2}px)`, width: overflowWidth, paddingInline: 0 }
  const place = placeOf(e)
  if (!place) return {}
  const width = `(100% - ${place.isFolded ? overflowWidth + 4 : 0}px) / ${place.of}`
  return { left: `calc(${width} * ${place.column})`, width: `calc(${width})` }
}

/** How many entries fit beside one another in a day: each shows its time and some words. */
function columnsOf(view: Props['view'], width: number): number {
  const day = view === 'week' ? Math.max(weekDayWidth, (width - 80) / 7) : width - 80
  return Math.min(4, Math.max(1, Math.floor((day - overflowWidth) / 58)))
}

/** The least width of a day in a week; on phones the week scrolls sideways. */
const weekDayWidth = 128

/** Scrolls to an hour before now; on other days to the morning. */
function scrollStart(zone: string): string {
  const hour = Number(toWall(Date.now(), zone).slice(11, 13))
  return `${String(Math.max(0, hour - 1)).padStart(2, '0')}:00:00`
}

/** Whether the bubble with the current time covers the label of an hour. */
function isCovered(clock: string, zone: string): boolean {
  const minutes = (c: string) => Number(c.slice(0, 2)) * 60 + Number(c.slice(3, 5))
  const now = toWall(Date.now(), zone).slice(11, 16)
  return clock !== now && Math.abs(minutes(clock) - minutes(now)) < 15
}

const ofHours = (zone: string, second: string | undefined, date: string, current: boolean) => ({
  withAllDaySlots: false,
  intervalMinutes: 30,
  eventDragInterval: 15,
  startScrollTime: current ? scrollStart(zone) : '07:00:00',
  scrollAreaProps: { mah: 'max(360px, calc(100dvh - 300px))', viewportProps: { tabIndex: 0, 'data-hours': true } },
  highlightToday: true,
  withCurrentTimeBubble: !second || second === zone, // it has room for one clock
  getCurrentTime: () => toWall(Date.now(), zone).replace('T', ' '),
  slotLabelFormat: (slot: string) => {
    const clock = slot.slice(11, 16)
    return second && second !== zone
      ? `${clock}\n${toWall(toInstant(`${date}T${clock}`, zone), second).slice(11, 16)}`
      : current && isCovered(clock, zone)
        ? ''
        : clock
  },
})
