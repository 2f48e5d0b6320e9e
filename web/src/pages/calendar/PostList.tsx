import { Box, Group, SegmentedControl, Switch, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconCalendarMonth, IconRepeat } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import dayjs from 'dayjs'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Post, unwrap } from '../../api/client'
import { NetworkIcons } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { StatusBadge, statusOf } from '../../components/status'
import { LabelChips } from '../../components/Labels'
import { Time } from '../../components/Time'
import { toInstant } from '../../lib/time'
import type { CalendarSearch } from './search'
import { asked, foldSeries, statusesOf, wanted } from './filter'

const rowHeight = 76

/** The days that the list is limited to. */
const between = ({ from, to }: CalendarSearch, zone: string) => ({
  ...(from ? { from: toInstant(`${from}T00:00`, zone).toISOString() } : {}),
  ...(to ? { to: toInstant(`${dayjs(to).add(1, 'day').format('YYYY-MM-DD')}T00:00`, zone).toISOString() } : {}),
})

const isPast = new Set<string>(['posted', 'partly_posted', 'failed', 'uncertain', 'canceled', 'publishing'])
const isTimeless = new Set<string>(['draft', 'pending', 'rejected'])

type Mode = 'upcoming' | 'past' | 'drafts' | 'all'

/** What the list shows: upcoming posts, unless the dates, the words or the statuses ask for others. */
function modeOf(search: CalendarSearch): Mode {
  if (search.from || search.to || search.q) return 'all'
  const chosen = statusesOf(search)
  if (chosen.length > 0 && chosen.every((s) => isTimeless.has(s))) return 'all'
  return search.show ?? (chosen.length > 0 && chosen.every((s) => isPast.has(s)) ? 'past' : 'upcoming')
}

/** Posts from now on, those of a series folded to the next one; past ones and drafts on demand. Only visible rows are rendered. */
export function PostList({
  search,
  zone,
  change,
}: {
  search: CalendarSearch
  zone: string
  change: (search: CalendarSearch) => void
}) {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const mode = modeOf(search)
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const [now] = useState(() => new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString())
  const filter = mode === 'drafts' ? { ...search, status: 'draft,pending,rejected' } : search
  const list = useInfiniteQuery({
    queryKey: ['post-list', mode, asked(filter), search.from, search.to, zone],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/posts', {
          params: {
            query: {
              limit: 200,
              ...asked(filter),
              ...(mode === 'upcoming' ? { from: now, order: 'asc' as const } : {}),
              ...(mode === 'past' ? { to: now } : {}),
              ...between(search, zone),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the filter follows from the search
  const { posts, more } = useMemo(() => {
    const all = list.data?.pages.flatMap((p) => p.posts).filter(wanted(filter)) ?? []
    // Drafts without a time are in a list of their own.
    const timed = mode === 'upcoming' ? all.filter((p) => p.scheduled_time) : all
    return mode === 'upcoming' && !search.every ? foldSeries(timed) : { posts: timed, more: new Map<string, number>() }
  }, [list.data, mode, search])
  const top = useRef<HTMLDivElement>(null)
  const rows = useWindowVirtualizer({
    count: posts.length + (list.hasNextPage ? 1 : 0),
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top.current?.offsetTop ?? 0,
  })
  const last = rows.getVirtualItems().at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  useEffect(() => {
    if (last >= posts.length - 40 && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [last, posts.length, hasNextPage, isFetchingNextPage, fetchNextPage])

  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  const bar = (
    <Group gap="sm">
      {mode !== 'all' && (
        <SegmentedControl
          aria-label={t('calendar.show')}
          value={mode}
          onChange={(v) => change({ show: v === 'past' || v === 'drafts' ? v : undefined })}
          data={(['upcoming', 'past', 'drafts'] as const).map((value) => ({
            value,
            label: t(`calendar.shows.${value}`),
          }))}
        />
      )}
      {mode === 'upcoming' && (more.size > 0 || search.every) && (
        <Switch
          label={t('calendar.allOfSeries')}
          checked={search.every ?? false}
          onChange={(e) => change({ every: e.currentTarget.checked || undefined })}
        />
      )}
    </Group>
  )
  if (!list.data || (posts.length === 0 && list.hasNextPage))
    return (
      <>
        {bar}
        <WaitingRows rows={8} />
      </>
    )
  if (posts.length === 0)
    return (
      <>
        {bar}
        <Empty icon={IconCalendarMonth} title={t(noneOf[mode])} text={t('calendar.noneText')}>
          {may && <LinkButton to="/compose">{t('nav.newPost')}</LinkButton>}
        </Empty>
      </>
    )
  return (
    <>
      {bar}
      <Box
        ref={top}
        className="dl-card"
        role="list"
        aria-label={t('calendar.list')}
        pos="relative"
        h={rows.getTotalSize()}
        style={{ overflow: 'hidden' }}
      >
        {rows.getVirtualItems().map((row) => {
          const post = posts[row.index]
          return (
            <Box
              key={row.key}
              role="listitem"
              pos="absolute"
              top={0}
              left={0}
              w="100%"
              h={rowHeight}
              style={{ transform: `translateY(${row.start - rows.options.scrollMargin}px)` }}
            >
              {post ? (
                <Row post={post} zone={zone} more={more.get(post.id)} maxLabels={narrow ? 1 : 3} />
              ) : (
                <Text p="md" c="dimmed">
                  {t('state.loading')}
                </Text>
              )}
            </Box>
          )
        })}
      </Box>
    </>
  )
}

const noneOf = {
  upcoming: 'calendar.noUpcoming',
  past: 'calendar.noPast',
  drafts: 'calendar.noDrafts',
  all: 'calendar.none',
} as const

function Row({ post, zone, more, maxLabels }: { post: Post; zone: string; more?: number; maxLabels: number }) {
  const { t } = useTranslation()
  return (
    <Link to="/posts/$id" params={{ id: post.id }} className="dl-link-box" data-post={post.id}>
      <Box h={rowHeight} px="md" py="xs" style={{ borderBottom: '1px solid var(--dl-line)' }}>
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <Text truncate fw={500}>
            {post.content || t('post.noText')}
          </Text>
          <StatusBadge status={statusOf(post)} size="sm" />
        </Group>
        <Group gap="xs" mt={4} wrap="nowrap">
          <Text size="sm" c="dimmed" style={{ flexShrink: 0 }}>
            {post.scheduled_time ? <Time at={post.scheduled_time} zone={zone} look="short" /> : t('post.noTime')}
          </Text>
          <NetworkIcons targets={post.targets} size={16} />
          <LabelChips ids={post.labels} max={maxLabels} />
          {post.series_id && <IconRepeat size={16} aria-label={t('series.one')} role="img" style={{ flexShrink: 0 }} />}
          {more && (
            <Text size="sm" c="dimmed" truncate data-more={more}>
              {t('calendar.seriesMore', { count: more })}
            </Text>
          )}
        </Group>
      </Box>
    </Link>
  )
}
