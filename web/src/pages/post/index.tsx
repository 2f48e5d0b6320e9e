import { Alert, Anchor, Button, Grid, Group, Menu, Stack, Text, Textarea, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconArrowLeft,
  IconBan,
  IconCheck,
  IconCopyPlus,
  IconDots,
  IconExternalLink,
  IconLink,
  IconPencil,
  IconRocket,
  IconX,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Post, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { useConfirm } from '../../components/Confirm'
import { LabelChips, LabelMenu } from '../../components/Labels'
import { LinkAnchor, LinkButton } from '../../components/links'
import { Page } from '../../components/Page'
import { useActorName } from '../../components/people'
import { laterDays, RescheduleMenu, useReschedule } from '../../components/Reschedule'
import { useShortcuts } from '../../components/Shortcuts'
import { Failed, Waiting } from '../../components/states'
import { StatusBadge, statusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { postQuery, timelineQuery } from '../../lib/queries'
import { useAtLeast } from '../../lib/session'
import { waits } from '../compose/draft'
import { Comments } from './Comments'
import { Metrics } from './Metrics'
import { Numbers } from './Numbers'
import { Reviews } from './Reviews'
import { Segments } from './Segments'
import { Targets } from './Targets'
import { Timeline } from './Timeline'
import { confirmNow, firstWords } from '../../lib/posts'
import { copyText } from '../../lib/copy'
import { notifyError, notifySuccess } from '../../lib/notify'
import { useChange } from './useChange'
import { useCopy } from './useCopy'
import { forget, useFormState } from '../../lib/formState'
import { FormDialog } from '../../components/FormDialog'

const route = getRouteApi('/posts/$id')

/** One post: its content, its status on each account, and its live timeline. */
export function PostPage() {
  const { id } = route.useParams()
  const { t } = useTranslation()
  const post = useQuery(postQuery(id))
  const story = useQuery(timelineQuery(id))
  const may = useAtLeast('author')
  if (post.error) return <Failed error={post.error} retry={() => void post.refetch()} />
  if (!post.data) return <Waiting />
  const p = post.data
  return (
    <Page
      title={firstWords(p.content) || t('post.title')}
      above={
        <LinkAnchor to="/calendar" size="sm" display="inline-flex" style={{ alignItems: 'center', gap: 4 }}>
          <IconArrowLeft size={14} aria-hidden />
          {t('post.back')}
        </LinkAnchor>
      }
      lead={
        <Group gap="xs" mt={4}>
          <StatusBadge status={statusOf(p)} size="lg" />
          {p.scheduled_time ? (
            <Text span size="sm">
              <Time at={p.scheduled_time} zone={p.time_zone} /> ({p.time_zone}, <Ago at={p.scheduled_time} />)
            </Text>
          ) : (
            <Text span size="sm">
              {t('post.noTime')}
            </Text>
          )}
          <LabelChips ids={p.labels} />
          {p.series_id && (
            <LinkAnchor to="/series" size="sm">
              {t('series.one')}
            </LinkAnchor>
          )}
        </Group>
      }
      actions={
        <>
          {may && <LabelMenu posts={[p]} />}
          <Actions post={p} />
        </>
      }
    >
      <Stack>
        <Approval post={p} />
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Stack>
              <Segments post={p} />
              <Targets post={p} />
              {p.posted_at && <Metrics id={p.id} />}
              {p.posted_at && <Numbers id={p.id} />}
              <Reviews post={p} />
              <Comments id={p.id} />
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('post.timeline')}>
              <Title order={2} size="h4">
                {t('post.timeline')}
              </Title>
              {story.error ? (
                <Failed error={story.error} retry={() => void story.refetch()} />
              ) : story.data ? (
                <Timeline story={story.data} />
              ) : (
                <Waiting />
              )}
              {p.workflow_url && (
                <Anchor href={p.workflow_url} target="_blank" rel="noreferrer" size="sm">
                  <Group gap={4} component="span">
                    <IconExternalLink size={16} aria-hidden />
                    {t('post.workflow')}
                  </Group>
                </Anchor>
              )}
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </Page>
  )
}

function Actions({ post }: { post: Post }) {
  const { t } = useTranslation()
  const change = useChange(post)
  const copy = useCopy()
  const may = useAtLeast('author')
  const [dialog, ask] = useConfirm()
  const open = post.status === 'scheduled' || post.status === 'draft'
  const rest = waits(post)
  const editable = open || rest || post.status === 'failed' || post.status === 'partly_posted'
  const isPosted = post.status === 'posted' || post.status === 'partly_posted'
  const navigate = useNavigate()
  const reschedule = useReschedule()
  const isFailed = post.status === 'failed'
  const copyLink = () =>
    void copyText(location.href.replace(/[?#].*/, '')).then(() => notifySuccess(t('post.linkCopied')), notifyError)
  const publish = () =>
    ask({
      ...confirmNow(
        t,
        post.targets.map((x) => x.handle),
      ),
      run: () =>
        change.mutate({
          done: t('post.done.now'),
          send: (params) => unwrap(api.POST('/api/v1/posts/{id}/publish-now', { params })),
        }),
    })
  const cancel = () =>
    ask({
      title: t('post.cancelTitle'),
      text: t('post.cancelText'),
      action: t('post.cancel'),
      danger: true,
      run: () =>
        change.mutate({
          done: t('post.done.cancel'),
          send: (params) => unwrap(api.DELETE('/api/v1/posts/{id}', { params })),
        }),
    })
  const edit = () => void navigate({ to: '/compose', search: { id: post.id } })
  useShortcuts(t('post.title'), [
    ...(may && editable ? [{ keys: 'e', label: t(rest ? 'post.editRemaining' : 'post.edit'), run: edit }] : []),
    ...(may ? [{ label: t(isPosted ? 'post.again' : 'post.duplicate'), run: () => copy.mutate(post) }] : []),
    { label: t('post.copyLink'), run: copyLink },
    ...(may && open
      ? [
          { label: t('post.now'), run: publish },
          { label: t('post.cancel'), run: cancel },
        ]
      : []),
    ...(may && (isFailed || post.status === 'scheduled')
      ? laterDays.map((days) => ({
          label: `${t('reschedule.do')}: ${t(`reschedule.in.${days}`)}`,
          run: () => reschedule.mutate({ id: post.id, days }),
        }))
      : []),
  ])
  return (
    <>
      {dialog}
      {may && editable && (
        <LinkButton to="/compose" search={{ id: post.id }} leftSection={<IconPencil size={18} aria-hidden />}>
          {t(rest ? 'post.editRemaining' : 'post.edit')}
        </LinkButton>
      )}
      {may && (
        <Button
          variant="default"
          leftSection={<IconCopyPlus size={18} aria-hidden />}
          loading={copy.isPending}
          onClick={() => copy.mutate(post)}
        >
          {t(isPosted ? 'post.again' : 'post.duplicate')}
        </Button>
      )}
      {may && isFailed && <RescheduleMenu id={post.id} />}
      {may && rest && (
        <Button
          color="red"
          variant="light"
          leftSection={<IconBan size={18} aria-hidden />}
          loading={change.isPending}
          onClick={() =>
            ask({
              title: t('post.stopTitle'),
              text: t('post.stopText'),
              action: t('post.stop'),
              danger: true,
              run: () =>
                change.mutate({
                  done: t('post.done.stop'),
                  send: ({ path }) => unwrap(api.DELETE('/api/v1/posts/{id}', { params: { path } })),
                }),
            })
          }
        >
          {t('post.stop')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={t('post.more')} loading={change.isPending}>
            <IconDots size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconLink size={16} aria-hidden />} onClick={copyLink}>
            {t('post.copyLink')}
          </Menu.Item>
          {may && open && (
            <>
              <Menu.Item leftSection={<IconRocket size={16} aria-hidden />} onClick={publish}>
                {t('post.now')}
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={cancel}>
                {t('post.cancel')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

/** The approval: an editor's decision, or the form for it. */
function Approval({ post }: { post: Post }) {
  const { t } = useTranslation()
  const change = useChange(post)
  const decides = useAtLeast('editor')
  const [opened, { open, close }] = useDisclosure()
  const form = `reject ${post.id}`
  const [note, setNote] = useFormState(form, 'note', '')
  const nameOf = useActorName(post.id)
  const a = post.approval
  const actor = a?.state === 'rejected' ? a.decided_by : a?.submitted_by
  const by = actor && nameOf(`user:${actor}`)
  const mayDecide = decides && a?.state === 'pending' && post.status === 'draft'
  const approve = () =>
    change.mutate({
      done: t('approvals.approved', { post: firstWords(post.content, 40) }),
      send: (params) => unwrap(api.POST('/api/v1/posts/{id}/approve', { params })),
    })
  useShortcuts(
    t('approvals.title'),
    mayDecide
      ? [
          { keys: 'a', label: t('post.approve'), run: approve },
          { keys: 'r', label: t('post.reject'), run: open },
        ]
      : [],
  )
  if (!a || post.status !== 'draft' || a.state === 'none' || a.state === 'approved') return null
  return (
    <Alert
      color={a.state === 'pending' ? 'grape' : 'pink'}
      title={t(a.state === 'pending' ? 'post.pendingApproval' : 'post.changesRequested')}
    >
      {by && (
        <Text size="sm" data-by>
          {t(a.state === 'rejected' ? 'post.returnedBy' : 'post.submittedBy', { name: by })}
        </Text>
      )}
      {a.state === 'pending' && (
        <Text size="sm">{t(decides ? 'post.pendingApprovalText' : 'post.pendingApprovalOthers')}</Text>
      )}
      {a.note && (
        <Text size="sm" className="dl-text">
          {a.note}
        </Text>
      )}
      {mayDecide && (
        <Group gap="xs" mt="xs">
          <Button
            size="xs"
            leftSection={<IconCheck size={16} aria-hidden />}
            loading={change.isPending}
            onClick={approve}
          >
            {t('post.approve')}
          </Button>
          <Button size="xs" variant="default" leftSection={<IconX size={16} aria-hidden />} onClick={open}>
            {t('post.reject')}
          </Button>
        </Group>
      )}
      <FormDialog form={form} opened={opened} onClose={close} title={t('post.reject')}>
        <Textarea
          label={t('post.rejectNote')}
          autosize
          minRows={3}
          maxLength={2000}
          value={note}
          onChange={(e) => setNote(e.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button
            disabled={note.trim() === ''}
            onClick={() => {
              change.mutate({
                done: t('approvals.returned', { post: firstWords(post.content, 40) }),
                send: (params) => unwrap(api.POST('/api/v1/posts/{id}/reject', { params, body: { note } })),
              })
              forget(form)
              close()
            }}
          >
            {t('post.requestChanges')}
          </Button>
        </Group>
      </FormDialog>
    </Alert>
  )
}
