import { Box, Group, Text } from '@mantine/core'
import { IconCalendarMonth, IconRepeat } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import dayjs from 'dayjs'
import { useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Post, unwrap } from '../../api/client'
import { NetworkIcon } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { StatusBadge, statusOf } from '../../components/status'
import { LabelChips } from '../../components/Labels'
import { Time } from '../../components/Time'
import { toInstant } from '../../lib/time'
import type { CalendarSearch } from './search'
import { asked, wanted } from './filter'

const rowHeight = 76

/** The days that the list is limited to. */
const between = ({ from, to }: CalendarSearch, zone: string) => ({
  ...(from ? { from: toInstant(`${from}T00:00`, zone).toISOString() } : {}),
  ...(to ? { to: toInstant(`${dayjs(to).add(1, 'day').format('YYYY-MM-DD')}T00:00`, zone).toISOString() } : {}),
})

/** All posts, latest first. Only visible rows are rendered. */
export function PostList({ search, zone }: { search: CalendarSearch; zone: string }) {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const list = useInfiniteQuery({
    queryKey: ['post-list', asked(search), search.from, search.to, zone],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/posts', {
          params: {
            query: {
              limit: 200,
              ...asked(search),
              ...between(search, zone),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const posts = useMemo(
    () => list.data?.pages.flatMap((p) => p.posts).filter(wanted({ network: search.network })) ?? [],
    [list.data, search.network],
  )
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
  if (!list.data) return <WaitingRows rows={8} />
  if (posts.length === 0 && list.hasNextPage) return <WaitingRows rows={8} />
  if (posts.length === 0)
    return (
      <Empty icon={IconCalendarMonth} title={t('calendar.none')} text={t('calendar.noneText')}>
        {may && <LinkButton to="/compose">{t('nav.newPost')}</LinkButton>}
      </Empty>
    )
  return (
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
              <Row post={post} zone={zone} />
            ) : (
              <Text p="md" c="dimmed">
                {t('state.loading')}
              </Text>
            )}
          </Box>
        )
      })}
    </Box>
  )
}

function Row({ post, zone }: { post: Post; zone: string }) {
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
          {[...new Set(post.targets.map((x) => x.network))].map((n) => (
            <NetworkIcon key={n} network={n} size={16} />
          ))}
          <LabelChips ids={post.labels} max={3} />
          {post.series_id && <IconRepeat size={16} aria-label={t('series.one')} role="img" style={{ flexShrink: 0 }} />}
        </Group>
      </Box>
    </Link>
  )
}
