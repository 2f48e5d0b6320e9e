import { Button, Checkbox, Group, Stack, Switch, Text, Title } from '@mantine/core'
import { IconCalendarMonth, IconPlaylistAdd, IconRepeat, IconTrash, IconUserCheck } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Post, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { LabelChips, LabelMenu } from '../../components/Labels'
import { NetworkIcons } from '../../components/network'
import { LinkButton } from '../../components/links'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { StatusBadge, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { WhenField } from '../../components/WhenField'
import { notifyError, notifySuccess, notifyUndo } from '../../lib/notify'
import { refreshPosts } from '../../lib/posts'
import { useAtLeast } from '../../lib/session'
import { format, isThisYear, toInstant, toWall } from '../../lib/time'
import { asked, foldSeries, isNarrowed, wanted } from './filter'
import type { CalendarSearch } from './search'

type Deed = 'queue' | 'cancel' | 'approve' | 'shift'

/** How long a post stays in the agenda after its time, in milliseconds. */
const recent = 3_600_000

/** Posts from now or a day on, day by day, those of a series folded to the next one. Several can be changed at once. */
export function Agenda({
  search,
  zone,
  change,
}: {
  search: CalendarSearch
  zone: string
  change: (search: CalendarSearch) => void
}) {
  const { t, i18n } = useTranslation()
  const may = useAtLeast('author')
  const mayApprove = useAtLeast('editor')
  const client = useQueryClient()
  const [now] = useState(() => new Date(Date.now() - recent).toISOString())
  const since = search.date ? toInstant(`${search.date}T00:00`, zone).toISOString() : now
  const [chosen, setChosen] = useState<string[]>([])
  const [start, setStart] = useState('')
  const [dialog, ask] = useConfirm()
  const list = useInfiniteQuery({
    queryKey: ['posts', 'agenda', since, asked(search)],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/posts', {
          params: {
            query: {
              from: since,
              order: 'asc',
              limit: 200,
              ...asked(search),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const { posts, more } = useMemo(() => {
    const all = (list.data?.pages ?? [])
      .flatMap((p) => p.posts)
      .filter(wanted(search))
      .filter((p) => p.scheduled_time && (search.status || p.status !== 'canceled'))
    return search.every ? { posts: all, more: new Map<string, number>() } : foldSeries(all)
  }, [list.data, search])
  const days = useMemo(() => {
    const out = new Map<string, Post[]>()
    for (const p of posts) {
      const day = toWall(p.scheduled_time ?? '', zone).slice(0, 10)
      out.set(day, [...(out.get(day) ?? []), p])
    }
    return [...out]
  }, [posts, zone])
  const picked = posts.filter((p) => chosen.includes(p.id))
  const undo = useMutation({
    mutationFn: (moved: { id: string; version: number; at: string }[]) =>
      Promise.all(
        moved.map(({ id, version, at }) =>
          unwrap(
            api.PATCH('/api/v1/posts/{id}', {
              params: { path: { id }, header: ifMatchHeader(version) },
              body: { scheduled_time: at },
            }),
          ),
        ),
      ),
    onSuccess: () => notifySuccess(t('undone')),
    onError: notifyError,
    onSettled: () => refreshPosts(client),
  })
  const act = useMutation({
    mutationFn: async (deed: Deed) => {
      // One after the other: slots are assigned in the order of the list.
      let done = 0
      const first = Math.min(...picked.map((p) => Date.parse(p.scheduled_time ?? '')))
      const errors: unknown[] = []
      const moved: { id: string; version: number; at: string }[] = []
      for (const p of picked) {
        const params = { path: { id: p.id }, header: ifMatchHeader(p.version) }
        try {
          if (deed === 'cancel') await unwrap(api.DELETE('/api/v1/posts/{id}', { params }))
          else if (deed === 'approve') await unwrap(api.POST('/api/v1/posts/{id}/approve', { params }))
          else if (deed === 'queue')
            await unwrap(api.PATCH('/api/v1/posts/{id}', { params, body: { when: 'next_free' } }))
          else {
            const { version } = await unwrap(
              api.PATCH('/api/v1/posts/{id}', {
                params,
                body: {
                  scheduled_time: new Date(
                    toInstant(start, zone).getTime() + Date.parse(p.scheduled_time ?? '') - first,
                  ).toISOString(),
                },
              }),
            )
            moved.push({ id: p.id, version, at: p.scheduled_time ?? '' })
          }
          done++
        } catch (error) {
          errors.push(error)
        }
      }
      return { done, errors, moved, tried: picked.map((p) => p.id) }
    },
    onSuccess: ({ done, errors, moved, tried }) => {
      if (moved.length > 0) notifyUndo(t('agenda.done', { count: done }), () => undo.mutate(moved))
      else if (done > 0) notifySuccess(t('agenda.done', { count: done }))
      if (errors[0]) notifyError(errors[0])
      setChosen((ids) => ids.filter((id) => !tried.includes(id))) // others may have been added meanwhile
      setStart('')
    },
    onSettled: () => refreshPosts(client),
  })
  const movable = picked.length > 0 && picked.every((p) => p.status === 'scheduled' || p.status === 'draft')
  const pending = picked.length > 0 && picked.every((p) => p.approval?.state === 'pending')
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  return (
    <Stack gap="sm">
      {dialog}
      {picked.length > 0 && (
        <Group
          className="dl-card dl-bulk"
          p="xs"
          gap="xs"
          role="toolbar"
          aria-label={t('agenda.bulk')}
          align="flex-start"
        >
          <Text size="sm" fw={600} mt={8} aria-live="polite">
            {t('agenda.chosen', { count: picked.length })}
          </Text>
          {movable && (
            <>
              <WhenField label={t('agenda.shift')} value={start} zone={zone} onChange={setStart} w={230} />
              <Button
                variant="default"
                mt={25}
                disabled={start === ''}
                loading={act.isPending && act.variables === 'shift'}
                onClick={() => act.mutate('shift')}
              >
                {t('calendar.move')}
              </Button>
              <Button
                variant="default"
                mt={25}
                leftSection={<IconPlaylistAdd size={16} aria-hidden />}
                loading={act.isPending && act.variables === 'queue'}
                onClick={() => act.mutate('queue')}
              >
                {t('agenda.queue')}
              </Button>
              <Button
                variant="subtle"
                color="red"
                mt={25}
                leftSection={<IconTrash size={16} aria-hidden />}
                loading={act.isPending && act.variables === 'cancel'}
                onClick={() =>
                  ask({
                    title: t('agenda.cancelTitle', { count: picked.length }),
                    text: t('agenda.cancelText'),
                    action: t('agenda.cancel'),
                    danger: true,
                    run: () => act.mutate('cancel'),
                  })
                }
              >
                {t('agenda.cancel')}
              </Button>
            </>
          )}
          {pending && mayApprove && (
            <Button
              mt={25}
              leftSection={<IconUserCheck size={16} aria-hidden />}
              loading={act.isPending && act.variables === 'approve'}
              onClick={() => act.mutate('approve')}
            >
              {t('agenda.approve')}
            </Button>
          )}
          <LabelMenu posts={picked} mt={25} />
          <Button variant="subtle" color="gray" mt={25} ml="auto" onClick={() => setChosen([])}>
            {t('compose.selectNone')}
          </Button>
        </Group>
      )}
      {(more.size > 0 || search.every) && (
        <Switch
          label={t('calendar.allOfSeries')}
          checked={search.every ?? false}
          onChange={(e) => change({ every: e.currentTarget.checked || undefined })}
        />
      )}
      {!list.data ? (
        <WaitingRows rows={8} />
      ) : days.length === 0 ? (
        <Empty
          icon={IconCalendarMonth}
          title={t(isNarrowed(search) ? 'agenda.nothing' : 'agenda.none')}
          text={t(isNarrowed(search) ? 'agenda.nothingText' : 'calendar.noneText')}
        >
          {may && !isNarrowed(search) && <LinkButton to="/compose">{t('nav.newPost')}</LinkButton>}
        </Empty>
      ) : (
        days.map(([day, all]) => (
          <section key={day} aria-label={day} data-day={day}>
            <Group gap="xs" mb={6} mt="xs">
              {may && (
                <Checkbox
                  size="xs"
                  aria-label={t('agenda.chooseDay', {
                    day: format(`${day}T12:00Z`, i18n.language, 'UTC', { dateStyle: 'full' }),
                  })}
                  checked={all.every((p) => chosen.includes(p.id))}
                  indeterminate={all.some((p) => chosen.includes(p.id)) && !all.every((p) => chosen.includes(p.id))}
                  onChange={(e) => {
                    const on = e.currentTarget.checked
                    setChosen((ids) =>
                      on
                        ? [...new Set([...ids, ...all.map((p) => p.id)])]
                        : ids.filter((id) => !all.some((p) => p.id === id)),
                    )
                  }}
                />
              )}
              <Title order={2} size="h5">
                {format(`${day}T12:00Z`, i18n.language, 'UTC', {
                  weekday: 'long',
                  day: 'numeric',
                  month: 'long',
                  ...(isThisYear(day) ? {} : { year: 'numeric' }),
                })}
              </Title>
              <Text size="sm" c="dimmed">
                {t('agenda.count', { count: all.length })}
              </Text>
            </Group>
            {/* biome-ignore lint/a11y/useSemanticElements: its items are rows of Mantine, not elements of a list */}
            <div className="dl-card dl-agenda" role="list">
              {all.map((p) => (
                <Row
                  key={p.id}
                  post={p}
                  zone={zone}
                  more={more.get(p.id)}
                  chosen={chosen.includes(p.id)}
                  choose={
                    may
                      ? (on) => setChosen((ids) => (on ? [...ids, p.id] : ids.filter((id) => id !== p.id)))
                      : undefined
                  }
                />
              ))}
            </div>
          </section>
        ))
      )}
      {list.hasNextPage && (
        <Button
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
          style={{ alignSelf: 'center' }}
        >
          {t('agenda.more')}
        </Button>
      )}
    </Stack>
  )
}

function Row({
  post,
  zone,
  more,
  chosen,
  choose,
}: {
  post: Post
  zone: string
  /** How many later posts of its series are folded into it. */
  more?: number
  chosen: boolean
  choose?: (on: boolean) => void
}) {
  const { t } = useTranslation()
  return (
    <Group role="listitem" wrap="nowrap" gap="sm" px="sm" className="dl-agenda-row" data-post={post.id}>
      {choose && (
        <Checkbox
          size="xs"
          aria-label={t('agenda.choose', { text: (post.content || t('post.noText')).slice(0, 60) })}
          checked={chosen}
          onChange={(e) => choose(e.currentTarget.checked)}
        />
      )}
      <Text size="sm" fw={600} className="dl-numbers" style={{ flexShrink: 0 }}>
        {post.scheduled_time && <Time at={post.scheduled_time} zone={zone} look="clock" />}
      </Text>
      <Link to="/posts/$id" params={{ id: post.id }} className="dl-agenda-link">
        <Group gap={4} wrap="nowrap" component="span" style={{ flexShrink: 0 }}>
          <NetworkIcons targets={post.targets} size={15} />
          {post.series_id && <IconRepeat size={15} aria-label={t('series.one')} role="img" />}
        </Group>
        <Text truncate size="sm" span>
          {post.content || t('post.noText')}
        </Text>
        {more && (
          <Text size="xs" c="dimmed" span style={{ flexShrink: 0 }} data-more={more}>
            {t('calendar.seriesMore', { count: more })}
          </Text>
        )}
      </Link>
      <span className="dl-agenda-labels">
        <LabelChips ids={post.labels} max={2} />
      </span>
      <StatusBadge status={statusOf(post)} size="sm" />
    </Group>
  )
}
