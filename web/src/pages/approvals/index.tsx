import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Checkbox,
  Grid,
  Group,
  Skeleton,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core'
import {
  IconCheck,
  IconChecks,
  IconChevronLeft,
  IconChevronRight,
  IconPencil,
  IconUserCheck,
  IconX,
} from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type RefObject, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Post, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { LabelChips } from '../../components/Labels'
import { LinkAnchor, LinkButton } from '../../components/links'
import { NetworkIcons } from '../../components/network'
import { Page } from '../../components/Page'
import { useActorName } from '../../components/people'
import { useShortcuts } from '../../components/Shortcuts'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { notifyRefused } from '../../lib/notify'
import { showData } from '../../lib/optimistic'
import { firstWords, refreshPosts } from '../../lib/posts'
import { accountsQuery, approvalsQuery, maxApprovals } from '../../lib/queries'
import { useAtLeast } from '../../lib/session'
import { contentOf, draftOf } from '../compose/draft'
import { Previews } from '../compose/Preview'
import { after } from './after'
import { select } from './selection'
import { useFormState } from '../../lib/formState'

const route = getRouteApi('/approvals')

interface Decision {
  post: Post
  /** What should be changed; without it the post is approved. */
  note?: string
  /** Undoes the decision instead. */
  reopen?: boolean
}

/** The posts pending approval, one after the other: with a preview, and the decision. */
export function ApprovalsPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const decides = useAtLeast('editor')
  const { post: wanted } = route.useSearch()
  const list = useQuery(approvalsQuery)
  const posts = list.data ?? []
  // When the chosen post is decided, the one that takes its place is next.
  const place = useRef(0)
  const post = after(posts, wanted, place.current)
  const at = post ? posts.indexOf(post) : 0
  place.current = at
  const choose = (p?: Post) =>
    p && void navigate({ to: '/approvals', search: { post: p.id }, replace: true, resetScroll: false })
  const note = useRef<HTMLTextAreaElement>(null)
  const decide = useAct<Decision, Post>({
    send: ({ post: p, note, reopen }) => {
      const params = { path: { id: p.id }, header: ifMatchHeader(p.version) }
      // The server decides whether publishing was faster.
      if (reopen) return unwrap(api.POST('/api/v1/posts/{id}/reopen', { params }))
      return note === undefined
        ? unwrap(api.POST('/api/v1/posts/{id}/approve', { params }))
        : unwrap(api.POST('/api/v1/posts/{id}/reject', { params, body: { note } }))
    },
    show: ({ post: p, reopen }) =>
      showData<Post[]>(client, approvalsQuery.queryKey, (all) => {
        const others = all.filter((one) => one.id !== p.id)
        return reopen ? [...others, p].sort(byTime) : others
      }),
    done: (_, { post: p, note, reopen }) =>
      t(reopen ? 'approvals.reopened' : note === undefined ? 'approvals.approved' : 'approvals.returned', {
        post: firstWords(p.content, 40),
      }),
    undo: (decided, { reopen }) => (reopen ? undefined : { post: decided, reopen: true }),
    failed: ({ post: p, reopen }) =>
      t(reopen ? 'approvals.notReopened' : 'approvals.refused', { post: firstWords(p.content, 40) }),
    accepted: (p, { reopen }) => reopen && choose(p),
    about: approvalsQuery.queryKey,
    settled: ({ post: p }) => {
      refreshPosts(client)
      void client.invalidateQueries({ queryKey: ['post', p.id] })
    },
  })
  const [marked, setMarked] = useState<string[]>([])
  const picked = posts.filter((p) => marked.includes(p.id))
  // Where a selection with Shift begins: at the last post that was selected, or at the open one.
  const from = useRef<string>(undefined)
  const mark = (p: Post, isOn: boolean, isRange: boolean) => {
    const start = isRange ? (from.current ?? post?.id) : undefined
    setMarked(
      select(
        marked,
        posts.map((one) => one.id),
        p.id,
        isOn,
        start,
      ),
    )
    from.current = p.id
  }
  const approveMany = useAct({
    send: async (all: Post[]) => {
      const refused: unknown[] = []
      // One after the other: each is a decision of its own, and one that is refused does not stop the others.
      for (const p of all)
        await unwrap(
          api.POST('/api/v1/posts/{id}/approve', {
            params: { path: { id: p.id }, header: ifMatchHeader(p.version) },
          }),
        ).catch((error: unknown) => refused.push(error))
      return refused
    },
    done: (refused, all) =>
      refused.length < all.length ? t('approvals.approvedMany', { count: all.length - refused.length }) : undefined,
    accepted: (refused) => {
      if (refused.length > 0) notifyRefused(t('approvals.refusedMany', { count: refused.length }), refused[0])
      setMarked([])
      from.current = undefined
    },
    settled: (all) => {
      refreshPosts(client)
      for (const { id } of all) void client.invalidateQueries({ queryKey: ['post', id] })
    },
  })
  const approve = () => {
    if (approveMany.isPending) return
    if (picked.length > 0) approveMany.mutate(picked)
    else if (post) decide.mutate({ post })
  }
  useShortcuts(t('approvals.title'), [
    { keys: 'j', label: t('approvals.next'), run: () => choose(posts[at + 1]) },
    { keys: 'k', label: t('approvals.previous'), run: () => choose(posts[at - 1]) },
    ...(decides
      ? [
          {
            keys: 'a',
            label: picked.length > 0 ? t('approvals.approveMany', { count: picked.length }) : t('post.approve'),
            run: approve,
          },
          {
            keys: 'x',
            label: t('approvals.toggle'),
            run: () => post && mark(post, !marked.includes(post.id), false),
          },
          { keys: 'r', label: t('post.reject'), run: () => note.current?.focus() },
        ]
      : []),
    {
      keys: 'o',
      label: t('post.open'),
      run: () => post && void navigate({ to: '/posts/$id', params: { id: post.id } }),
    },
  ])
  return (
    <Page title={t('approvals.title')} lead={t(decides ? 'approvals.lead' : 'approvals.leadOthers')}>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows />
      ) : !post ? (
        <Empty icon={IconUserCheck} title={t('approvals.none')} text={t('approvals.noneText')}>
          <LinkButton to="/calendar" variant="default">
            {t('nav.calendar')}
          </LinkButton>
        </Empty>
      ) : (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 5 }} order={{ base: 2, md: 1 }}>
            {decides && (
              <Group
                gap="sm"
                mb="xs"
                role="toolbar"
                aria-label={t('approvals.list')}
                className="dl-bulk dl-card"
                p="xs"
              >
                <Checkbox
                  label={picked.length > 0 ? t('approvals.chosen', { count: picked.length }) : t('approvals.chooseAll')}
                  aria-label={t('approvals.chooseAll')}
                  checked={picked.length === posts.length}
                  indeterminate={picked.length > 0 && picked.length < posts.length}
                  onChange={(e) => setMarked(e.currentTarget.checked ? posts.map((p) => p.id) : [])}
                />
                {picked.length > 0 ? (
                  <Button
                    size="xs"
                    ml="auto"
                    leftSection={<IconChecks size={16} aria-hidden />}
                    loading={approveMany.isPending}
                    onClick={() => approveMany.mutate(picked)}
                  >
                    {t('approvals.approveMany', { count: picked.length })}
                  </Button>
                ) : (
                  <Text size="sm" c="dimmed" ml="auto" visibleFrom="sm">
                    {t('approvals.range')}
                  </Text>
                )}
              </Group>
            )}
            <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('approvals.list')}>
              {posts.map((p) => (
                <Row
                  key={p.id}
                  post={p}
                  isChosen={p === post}
                  isMarked={marked.includes(p.id)}
                  mark={decides ? mark : undefined}
                />
              ))}
            </Stack>
            {posts.length === maxApprovals && (
              <Text size="sm" c="dimmed" mt="xs">
                {t('approvals.more', { count: maxApprovals })}
              </Text>
            )}
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 1, md: 2 }}>
            <Stack
              gap="sm"
              className="dl-card dl-sticky"
              p="md"
              component="section"
              aria-label={firstWords(post.content)}
            >
              <Group justify="space-between" wrap="nowrap">
                <Text size="sm" c="dimmed" aria-live="polite" className="dl-numbers" data-position>
                  {t('approvals.position', { at: at + 1, of: posts.length })}
                </Text>
                <Group gap={4}>
                  <ActionIcon
                    variant="default"
                    size="lg"
                    aria-label={t('approvals.previous')}
                    disabled={at === 0}
                    onClick={() => choose(posts[at - 1])}
                  >
                    <IconChevronLeft size={18} aria-hidden />
                  </ActionIcon>
                  <ActionIcon
                    variant="default"
                    size="lg"
                    aria-label={t('approvals.next')}
                    disabled={at >= posts.length - 1}
                    onClick={() => choose(posts[at + 1])}
                  >
                    <IconChevronRight size={18} aria-hidden />
                  </ActionIcon>
                </Group>
              </Group>
              <Decide key={post.id} post={post} may={decides} decide={decide.mutate} note={note} />
            </Stack>
          </Grid.Col>
        </Grid>
      )}
    </Page>
  )
}

function Row({
  post,
  isChosen,
  isMarked,
  mark,
}: {
  post: Post
  isChosen: boolean
  isMarked: boolean
  mark?: (post: Post, isOn: boolean, isRange: boolean) => void
}) {
  const { t } = useTranslation()
  return (
    <li className="dl-approval">
      {mark && (
        <Checkbox
          aria-label={t('approvals.choose', { post: firstWords(post.content, 40) || t('post.noText') })}
          checked={isMarked}
          onChange={(e) => mark(post, e.currentTarget.checked, (e.nativeEvent as MouseEvent).shiftKey)}
        />
      )}
      <LinkAnchor
        to="/approvals"
        search={{ post: post.id }}
        replace
        resetScroll={false}
        underline="never"
        c="inherit"
        display="block"
        p="sm"
        className="dl-card dl-choice"
        aria-current={isChosen || undefined}
        data-approval={post.id}
      >
        <Text fw={500} truncate>
          {firstWords(post.content) || t('post.noText')}
        </Text>
        <Group gap="xs" mt={4}>
          <NetworkIcons targets={post.targets} size={16} />
          {post.scheduled_time && (
            <Text size="sm" c="dimmed" span>
              <Time at={post.scheduled_time} look="short" />
            </Text>
          )}
          {isOver(post) && (
            <Badge color="orange" variant="light" tt="none">
              {t('approvals.over')}
            </Badge>
          )}
        </Group>
      </LinkAnchor>
    </li>
  )
}

const byTime = (a: Post, b: Post) => (a.scheduled_time ?? '').localeCompare(b.scheduled_time ?? '')

const isOver = (post: Post) => post.scheduled_time !== undefined && Date.parse(post.scheduled_time) < Date.now()

/** One post, as it will look, with the decision above it: it stays in sight. */
function Decide({
  post,
  may,
  decide,
  note,
}: {
  post: Post
  may: boolean
  decide: (d: Decision) => void
  note: RefObject<HTMLTextAreaElement | null>
}) {
  const { t } = useTranslation()
  const nameOf = useActorName(post.id)
  const accounts = useQuery(accountsQuery).data ?? []
  const draft = useMemo(() => draftOf(post), [post])
  const form = `reject ${post.id}`
  const [text, setText] = useFormState(form, 'text', '')
  const preview = useQuery({
    queryKey: ['preview', 'approval', post.id, post.version],
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/posts/preview', {
          signal,
          body: { ...contentOf(draft), ...(draft.when ? { scheduled_time: draft.when } : {}) },
        }),
      ),
  })
  const by = nameOf(post.approval?.submitted_by && `user:${post.approval.submitted_by}`)
  const reject = () => text.trim() !== '' && decide({ post, note: text.trim() })
  return (
    <>
      <div>
        <Title order={2} size="h4">
          <LinkAnchor to="/posts/$id" params={{ id: post.id }} inherit c="inherit">
            {firstWords(post.content) || t('post.noText')}
          </LinkAnchor>
        </Title>
        <Text size="sm" c="dimmed" data-submitted>
          {by ? t('approvals.submittedBy', { name: by }) : t('approvals.submitted')}
          {post.approval?.submitted_at && (
            <>
              {' '}
              <Ago at={post.approval.submitted_at} />
            </>
          )}
          {post.scheduled_time && (
            <>
              {' · '}
              {t('approvals.for')} <Time at={post.scheduled_time} zone={post.time_zone} />
            </>
          )}
        </Text>
        <LabelChips ids={post.labels} />
      </div>
      {isOver(post) && (
        <Alert color="orange" p="xs">
          {t('approvals.overText')}
        </Alert>
      )}
      {may && (
        <Stack gap="xs">
          <Textarea
            ref={note}
            label={t('post.rejectNote')}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={2000}
            value={text}
            onChange={(e) => setText(e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) reject()
              if (e.key === 'Escape') e.currentTarget.blur()
            }}
          />
          <Group gap="xs">
            <Button leftSection={<IconCheck size={18} aria-hidden />} onClick={() => decide({ post })}>
              {t('post.approve')}
            </Button>
            <Button
              variant="default"
              leftSection={<IconX size={18} aria-hidden />}
              disabled={text.trim() === ''}
              onClick={reject}
            >
              {t('post.requestChanges')}
            </Button>
            <LinkButton
              variant="subtle"
              ml="auto"
              to="/compose"
              search={{ id: post.id }}
              leftSection={<IconPencil size={18} aria-hidden />}
            >
              {t('post.edit')}
            </LinkButton>
          </Group>
        </Stack>
      )}
      <Box component="section" aria-label={t('compose.preview')}>
        {preview.error ? (
          <Failed error={preview.error} retry={() => void preview.refetch()} />
        ) : preview.data ? (
          <Previews targets={preview.data.targets} accounts={accounts} draft={draft} />
        ) : (
          <Skeleton height={220} radius="md" />
        )}
      </Box>
    </>
  )
}
