import './queue.css'
import { ActionIcon, Group, NativeSelect, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconGripVertical, IconPlaylistAdd, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type DragEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Post, type Schemas, unwrap } from '../../api/client'
import { LabelChips } from '../../components/Labels'
import { LinkButton } from '../../components/links'
import { NetworkIcons } from '../../components/network'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { StatusBadge, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { notifyError, notifySuccess, notifyUndo } from '../../lib/notify'
import { refreshPosts } from '../../lib/posts'
import { groupsQuery, slotsQuery } from '../../lib/queries'
import { useAtLeast } from '../../lib/session'
import { format, toWall } from '../../lib/time'
import { followerOf, placeBeside, placeOn, reordered } from './order'
import { postsBetween } from './postsBetween'

type Slot = Schemas['SlotInstance']

const days = 28
const none: never[] = []

/** The queue of a group: its slots of the next weeks, in order. Posts change places by dragging or by keyboard. */
export function Queue({ chosen, choose, zone }: { chosen?: string; choose: (group: string) => void; zone: string }) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery)
  const queues = (groups.data ?? none).filter((g) => g.slots.length > 0)
  const group = queues.find((g) => g.id === chosen) ?? queues[0]
  if (groups.error) return <Failed error={groups.error} retry={() => void groups.refetch()} />
  if (!groups.data) return <WaitingRows rows={8} />
  if (!group)
    return (
      <Empty icon={IconPlaylistAdd} title={t('queue.none')} text={t('queue.noneText')}>
        <LinkButton to="/accounts">{t('queue.create')}</LinkButton>
      </Empty>
    )
  return (
    <Stack gap="sm">
      {queues.length > 1 && (
        <NativeSelect
          label={t('queue.group')}
          value={group.id}
          onChange={(e) => choose(e.currentTarget.value)}
          data={queues.map((g) => ({ value: g.id, label: g.name }))}
          w={{ base: '100%', xs: 360 }}
        />
      )}
      <Slots key={group.id} group={group} zone={zone} />
    </Stack>
  )
}

interface Move {
  id: string
  before?: string
  undone?: boolean
}

function Slots({ group, zone }: { group: Schemas['AccountGroup']; zone: string }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('author')
  const [[from, to]] = useState(() => [new Date(), new Date(Date.now() + days * 86_400_000)] as const)
  const listed = slotsQuery(from, to)
  const slots = useQuery(listed)
  const posts = useQuery({
    queryKey: ['posts', 'queue', from.toISOString()],
    queryFn: ({ signal }) => postsBetween(from, to, {}, signal),
  })
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState('')
  const [said, setSaid] = useState('')
  // The button that moved a post keeps the focus in the post's new row.
  const focused = useRef('')
  const own = useMemo(() => (slots.data ?? none).filter((s) => s.queue_group_id === group.id), [slots.data, group.id])
  const byID = useMemo(() => new Map((posts.data ?? none).map((p) => [p.id, p])), [posts.data])
  const movable = useMemo(
    () => new Set(may ? [...byID.values()].filter((p) => p.status === 'scheduled').map((p) => p.id) : []),
    [byID, may],
  )
  const clock = (at: string) =>
    format(at, i18n.language, zone, {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })

  const move = useMutation({
    mutationFn: ({ id, before }: Move) =>
      unwrap(
        api.POST('/api/v1/account-groups/{id}/reorder', {
          params: { path: { id: group.id } },
          body: { post_id: id, ...(before ? { before } : {}) },
        }),
      ),
    onMutate: ({ id, before }) => {
      // It is where it was dropped, unless the request fails.
      const was = client.getQueryData<Slot[]>(listed.queryKey)
      const follower = followerOf(own, movable, id)
      const next = reordered(own, movable, id, before)
      client.setQueryData<Slot[]>(listed.queryKey, (all) =>
        all?.map((s) => (s.queue_group_id === group.id ? (next.find((n) => n.at === s.at) ?? s) : s)),
      )
      const at = next.find((s) => s.post_id === id)?.at
      if (at) setSaid(t('queue.movedTo', { time: clock(at) }))
      return { was, follower }
    },
    onSuccess: (_, { id, undone }, { follower }) => {
      if (undone) notifySuccess(t('undone'))
      else notifyUndo(t('queue.moved'), () => move.mutate({ id, before: follower, undone: true }))
    },
    onError: (error, _, context) => {
      client.setQueryData(listed.queryKey, context?.was)
      notifyError(error)
    },
    onSettled: () => refreshPosts(client),
  })
  const fill = useMutation({
    mutationFn: ({ post, at }: { post: Post; at: string }) =>
      unwrap(
        api.PATCH('/api/v1/posts/{id}', {
          // Without a version, like reordering: right after another move the list still shows the one before.
          params: { path: { id: post.id } },
          body: { scheduled_time: at, queue_group_id: group.id },
        }),
      ),
    onSuccess: (_, { at }) => {
      setSaid(t('queue.movedTo', { time: clock(at) }))
      notifySuccess(t('queue.moved'))
    },
    onError: notifyError,
    onSettled: () => refreshPosts(client),
  })
  const drop = (slot: Slot) => {
    const post = dragged === undefined ? undefined : byID.get(dragged)
    setDragged(undefined)
    setOver('')
    if (!post) return
    if (!slot.post_id) return fill.mutate({ post, at: slot.at })
    const place = placeOn(own, movable, post.id, slot.post_id)
    if (place) move.mutate({ id: post.id, ...place })
  }
  const step = (id: string, by: 1 | -1) => {
    const place = placeBeside(own, movable, id, by)
    if (!place) return
    focused.current = `[data-queued="${id}"] [data-step="${by}"]`
    move.mutate({ id, ...place })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: after the rows have changed
  useEffect(() => {
    if (focused.current) document.querySelector<HTMLElement>(focused.current)?.focus()
    focused.current = ''
  }, [own])
  const byDay = useMemo(() => {
    const out = new Map<string, Slot[]>()
    for (const s of own) {
      const day = toWall(s.at, zone).slice(0, 10)
      out.set(day, [...(out.get(day) ?? []), s])
    }
    return [...out]
  }, [own, zone])
  const failed = slots.error ?? posts.error
  if (failed) return <Failed error={failed} retry={() => void slots.refetch().then(() => posts.refetch())} />
  if (!slots.data || !posts.data) return <WaitingRows rows={8} />
  const order = own.flatMap((s) => (s.post_id && movable.has(s.post_id) ? [s.post_id] : []))
  return (
    <>
      <Text size="sm" c="dimmed">
        {t(may ? 'queue.lead' : 'queue.leadRead', { weeks: days / 7 })}
      </Text>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
      {byDay.map(([day, all]) => (
        <section key={day} aria-label={day} data-day={day}>
          <Title order={2} size="h5" mb={6} mt="xs">
            {format(`${day}T12:00Z`, i18n.language, 'UTC', { weekday: 'long', day: 'numeric', month: 'long' })}
          </Title>
          {/* biome-ignore lint/a11y/useSemanticElements: its items are rows of Mantine, not elements of a list */}
          <div className="dl-card dl-agenda" role="list">
            {all.map((slot) => {
              const post = slot.post_id ? byID.get(slot.post_id) : undefined
              const target = {
                'data-over': over === slot.at || undefined,
                onDragOver: (e: DragEvent) => {
                  if (dragged === undefined || (slot.post_id && !movable.has(slot.post_id))) return
                  e.preventDefault()
                  setOver(slot.at)
                },
                onDragLeave: () => setOver((at) => (at === slot.at ? '' : at)),
                onDrop: (e: DragEvent) => {
                  e.preventDefault()
                  drop(slot)
                },
              }
              if (!slot.post_id)
                return (
                  <Group
                    key={slot.at}
                    role="listitem"
                    wrap="nowrap"
                    gap="sm"
                    px="sm"
                    className="dl-agenda-row dl-queue-row"
                    data-free={slot.at}
                    {...target}
                  >
                    <SlotTime at={slot.at} zone={zone} />
                    {may ? (
                      <Link
                        to="/compose"
                        search={{ at: toWall(slot.at, zone).slice(0, 16), queue: group.id }}
                        className="dl-queue-free"
                      >
                        <IconPlus size={15} aria-hidden />
                        <Text size="sm" span>
                          {t('queue.free')}
                        </Text>
                      </Link>
                    ) : (
                      <Text size="sm" c="dimmed">
                        {t('queue.freeRead')}
                      </Text>
                    )}
                  </Group>
                )
              const id = slot.post_id
              const place = order.indexOf(id)
              return (
                <Group
                  key={slot.at}
                  role="listitem"
                  wrap="nowrap"
                  gap="sm"
                  px="sm"
                  className="dl-agenda-row dl-queue-row"
                  data-queued={id}
                  data-dragged={dragged === id || undefined}
                  draggable={place >= 0}
                  onDragStart={(e) => {
                    e.dataTransfer.setData('text/plain', id)
                    e.dataTransfer.effectAllowed = 'move'
                    setDragged(id)
                  }}
                  onDragEnd={() => setDragged(undefined)}
                  onKeyDown={(e: KeyboardEvent) => {
                    if (place < 0 || !e.altKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return
                    e.preventDefault()
                    step(id, e.key === 'ArrowUp' ? -1 : 1)
                  }}
                  {...target}
                >
                  {place >= 0 && <IconGripVertical size={16} aria-hidden style={{ flexShrink: 0 }} />}
                  <SlotTime at={slot.at} zone={zone} />
                  {post ? (
                    <QueuedPost post={post} />
                  ) : (
                    <Text size="sm" c="dimmed" flex={1}>
                      {t('state.loading')}
                    </Text>
                  )}
                  {place >= 0 && (
                    <Group gap={2} wrap="nowrap">
                      {(
                        [
                          [-1, IconArrowUp, place === 0],
                          [1, IconArrowDown, place === order.length - 1],
                        ] as const
                      ).map(([by, Icon, end]) => (
                        <ActionIcon
                          key={by}
                          variant="subtle"
                          color="gray"
                          data-step={by}
                          aria-disabled={end || undefined}
                          data-disabled={end || undefined}
                          aria-label={t(by < 0 ? 'queue.up' : 'queue.down', {
                            text: (post?.content || t('post.noText')).slice(0, 60),
                          })}
                          onClick={() => step(id, by)}
                        >
                          <Icon size={16} aria-hidden />
                        </ActionIcon>
                      ))}
                    </Group>
                  )}
                </Group>
              )
            })}
          </div>
        </section>
      ))}
    </>
  )
}

const SlotTime = ({ at, zone }: { at: string; zone: string }) => (
  <Text size="sm" fw={600} className="dl-numbers" style={{ flexShrink: 0 }}>
    <Time at={at} zone={zone} look="clock" />
  </Text>
)

function QueuedPost({ post }: { post: Post }) {
  const { t } = useTranslation()
  return (
    <>
      <Link to="/posts/$id" params={{ id: post.id }} className="dl-agenda-link" draggable={false}>
        <Group gap={4} wrap="nowrap" component="span" style={{ flexShrink: 0 }}>
          <NetworkIcons targets={post.targets} size={15} />
        </Group>
        <Text truncate size="sm" span>
          {post.content || t('post.noText')}
        </Text>
      </Link>
      <LabelChips ids={post.labels} max={2} />
      <StatusBadge status={statusOf(post)} size="sm" />
    </>
  )
}
