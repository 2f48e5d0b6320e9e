import { Alert, Anchor, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCheck, IconExternalLink, IconRefresh, IconSend, IconTrash } from '@tabler/icons-react'
import i18n from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Post, unwrap, type Target } from '../../api/client'
import { Cause } from '../../components/Cause'
import { useConfirm } from '../../components/Confirm'
import { AccountName } from '../../components/network'
import { StatusBadge, targetStatusOf } from '../../components/status'
import { Time } from '../../components/Time'
import { Modal } from '../../components/Modal'
import { formatMilliseconds, noteText } from '../../i18n/message'
import { notifyOutcome } from '../../lib/outcome'
import { useAtLeast } from '../../lib/session'
import { useChange } from './useChange'

/** The status of a post on each account. */
export function Targets({ post }: { post: Post }) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm" component="section" aria-label={t('post.accounts')}>
      <Title order={2} size="h4">
        {t('post.accounts')}
      </Title>
      {post.targets.map((target) => (
        <TargetCard key={target.id} post={post} target={target} />
      ))}
    </Stack>
  )
}

function TargetCard({ post, target }: { post: Post; target: Target }) {
  const { t } = useTranslation()
  return (
    <Stack gap={6} className="dl-card" p="sm" data-target={target.network}>
      <Group justify="space-between" wrap="nowrap">
        <AccountName network={target.network} handle={target.handle} size="md" />
        <StatusBadge status={targetStatusOf(post, target)} />
      </Group>
      {target.sent_at && (
        <Text size="sm" c="dimmed">
          {t('post.sentAt')} <Time at={target.sent_at} zone={post.time_zone} look="short" />
          {target.late_ms !== undefined && ` · ${t('post.late', { time: formatMilliseconds(target.late_ms) })}`}
        </Text>
      )}
      {target.attempts > 1 && (
        <Text size="sm" c="dimmed">
          {t('post.attempts', { count: target.attempts })}
        </Text>
      )}
      {target.url && safe(target.url) && (
        <Anchor href={target.url} target="_blank" rel="noreferrer" size="sm">
          <Group gap={4} component="span">
            <IconExternalLink size={16} aria-hidden />
            {t('post.viewOnNetwork')}
          </Group>
        </Anchor>
      )}
      {target.deleted_at && (
        <Text size="sm" c="dimmed" data-deleted>
          {t('post.deletedThere')} <Time at={target.deleted_at} zone={post.time_zone} look="short" />
        </Text>
      )}
      {target.differences && (
        <Alert color={target.needs_review ? 'red' : 'yellow'} p="xs" title={t('post.differs')} data-differences>
          <Stack gap={2} component="ul" m={0} pl="md">
            {target.differences.map((d) => (
              <Text key={`${d.segment} ${d.code}`} size="sm" component="li" className="dl-text">
                {(post.thread ?? []).length > 0 &&
                  `${t('compose.partOf', { part: d.segment + 1, parts: (post.thread ?? []).length + 1 })}: `}
                {noteText(d)}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      {target.error && target.status !== 'posted' && (
        <Alert color={target.status === 'failed' || target.status === 'uncertain' ? 'red' : 'yellow'} p="xs">
          <Text size="sm" className="dl-text">
            <Cause cause={target.error} />
          </Text>
          <Text size="xs" c="dimmed" mt={2}>
            {reason(target.error.class, target.error.code)}
          </Text>
        </Alert>
      )}
      <Decisions post={post} target={target} />
    </Stack>
  )
}

const safe = (address: string) => /^https?:\/\//i.test(address)

/** The label of an error's code or class, or the class itself if it is unknown. */
export function reason(cls: string, code?: string): string {
  const key = [`reason.${code}`, `reason.${cls}`].find((k) => i18n.exists(k))
  return key ? i18n.t(key as 'reason.auth') : cls
}

/** What can be done about a target that needs a decision. */
export function Decisions({
  post,
  target,
}: {
  post: Pick<Post, 'id'> & { version?: number }
  target: Pick<Target, 'id' | 'status' | 'handle' | 'needs_review' | 'differences' | 'deleted_at'>
}) {
  const { t } = useTranslation()
  const change = useChange(post)
  const may = useAtLeast('author')
  const [opened, { open, close }] = useDisclosure()
  const [url, setURL] = useState('')
  const body = { targets: [target.id] }
  const mayDelete =
    useAtLeast('editor') && target.status === 'posted' && target.differences !== undefined && !target.deleted_at
  const [dialog, ask] = useConfirm()
  const { handle } = target
  const discard = (done: string) =>
    change.mutate({ done, send: (params) => unwrap(api.POST('/api/v1/posts/{id}/discard', { params, body })) })
  const outcome = () => void notifyOutcome([post.id], target.id)
  if (may && (mayDelete || target.needs_review))
    return (
      <Group gap="xs">
        {mayDelete && (
          <Button
            size="xs"
            color="red"
            data-do="delete"
            leftSection={<IconTrash size={16} aria-hidden />}
            loading={change.isPending}
            onClick={() =>
              ask({
                title: t('post.deleteThereTitle'),
                text: t('post.deleteThereText', { handle: target.handle }),
                action: t('post.deleteThere'),
                danger: true,
                run: () =>
                  change.mutate({
                    done: t('post.done.deleteThere', { handle }),
                    send: ({ path, header }) =>
                      unwrap(
                        api.POST('/api/v1/posts/{id}/targets/{target}/delete-published', {
                          params: { path: { ...path, target: target.id }, header },
                        }),
                      ),
                  }),
              })
            }
          >
            {t('post.deleteThere')}
          </Button>
        )}
        {target.needs_review && (
          <Button
            size="xs"
            variant="default"
            data-do="discard"
            leftSection={<IconCheck size={16} aria-hidden />}
            onClick={() => discard(t('post.done.keep'))}
          >
            {t('post.keep')}
          </Button>
        )}
        {dialog}
      </Group>
    )
  if (!may || (target.status !== 'failed' && target.status !== 'uncertain')) return null
  return (
    <Group gap="xs">
      {target.status === 'failed' && (
        <Button
          size="xs"
          data-do="retry"
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={change.isPending}
          onClick={() =>
            change.mutate({
              done: t('post.done.retry', { handle }),
              send: (params) => unwrap(api.POST('/api/v1/posts/{id}/retry', { params, body })),
              accepted: outcome,
            })
          }
        >
          {t('post.retry')}
        </Button>
      )}
      {target.status === 'uncertain' && (
        <>
          <Button size="xs" leftSection={<IconCheck size={16} aria-hidden />} onClick={open}>
            {t('post.confirm')}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconSend size={16} aria-hidden />}
            loading={change.isPending}
            onClick={() =>
              change.mutate({
                done: t('post.done.resend', { handle }),
                send: ({ path, header }) =>
                  unwrap(
                    api.POST('/api/v1/posts/{id}/targets/{target}/resend', {
                      params: { path: { ...path, target: target.id }, header },
                    }),
                  ),
                accepted: outcome,
              })
            }
          >
            {t('post.resend')}
          </Button>
        </>
      )}
      <Button
        size="xs"
        variant="subtle"
        color="red"
        data-do="discard"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => discard(t('post.done.discard'))}
      >
        {t('post.discard')}
      </Button>
      <Modal opened={opened} onClose={close} title={t('post.confirm')} closeButtonProps={{ 'aria-label': t('close') }}>
        <Text size="sm" mb="sm">
          {t('post.confirmText')}
        </Text>
        <TextInput
          label={t('post.address')}
          type="url"
          placeholder="https://"
          value={url}
          onChange={(e) => setURL(e.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button
            disabled={!safe(url)}
            onClick={() => {
              change.mutate({
                done: t('post.done.confirm', { handle }),
                send: ({ path, header }) =>
                  unwrap(
                    api.POST('/api/v1/posts/{id}/targets/{target}/confirm', {
                      params: { path: { ...path, target: target.id }, header },
                      body: { url },
                    }),
                  ),
              })
              close()
            }}
          >
            {t('post.confirmDo')}
          </Button>
        </Group>
      </Modal>
    </Group>
  )
}
