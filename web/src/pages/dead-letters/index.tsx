import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import {
  IconFilterOff,
  IconMoodCheck,
  IconPencil,
  IconPlugConnected,
  IconRefresh,
  IconTrash,
} from '@tabler/icons-react'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import i18n from 'i18next'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { AccountName, NetworkIcon, networkName } from '../../components/network'
import { LinkAnchor, LinkButton } from '../../components/links'
import { Page } from '../../components/Page'
import { RescheduleMenu } from '../../components/Reschedule'
import { useShortcuts } from '../../components/Shortcuts'
import { Empty, Failed, Waiting, WaitingRows } from '../../components/states'
import { StatusBadge } from '../../components/status'
import { Time } from '../../components/Time'
import { noteText } from '../../i18n/message'
import { Cause, isQuoted } from '../../components/Cause'
import { Modal } from '../../components/Modal'
import { useAct } from '../../lib/act'
import { deadCountsQuery } from '../../lib/queries'
import { notifyOutcome } from '../../lib/outcome'
import { useAtLeast } from '../../lib/session'
import { Decisions, reason } from '../post/Targets'

const route = getRouteApi('/dead-letters')

/** The dead letters by reason, with their counts and actions. */
export function DeadLettersPage() {
  const { t } = useTranslation()
  const filter = route.useSearch()
  const navigate = useNavigate()
  const counts = useQuery(deadCountsQuery)
  const list = useInfiniteQuery({
    queryKey: ['dead-letters', 'list', filter],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/dead-letters', {
          params: {
            query: {
              ...(filter.reason ? { reason: [filter.reason] } : {}),
              ...(filter.network ? { network: [filter.network] } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const [asked, setAsked] = useState<'retry' | 'discard'>()
  const may = useAtLeast('author')
  // By keys: from row to row, and what its buttons do.
  const rows = () => [...document.querySelectorAll<HTMLElement>('[data-dead]')]
  const at = () => rows().findIndex((r) => r.contains(document.activeElement))
  const press = (name: string) => rows()[at()]?.querySelector<HTMLElement>(`[data-do=${name}]`)?.click()
  useShortcuts(t('dead.title'), [
    { keys: 'j', label: t('dead.keys.next'), run: () => focusRow(rows()[at() + 1]) },
    { keys: 'k', label: t('dead.keys.previous'), run: () => focusRow(rows()[Math.max(0, at() - 1)]) },
    ...(may
      ? [
          { keys: 'r', label: t('post.retry'), run: () => press('retry') },
          { keys: 'm', label: t('reschedule.do'), run: () => press('reschedule') },
          { keys: 'x', label: t('post.discard'), run: () => press('discard') },
        ]
      : []),
    { keys: 'o', label: t('post.open'), run: () => rows()[at()]?.querySelector<HTMLElement>('a')?.click() },
  ])
  const letters = list.data?.pages.flatMap((p) => p.dead_letters) ?? []
  const chosen = filter.reason !== undefined || filter.network !== undefined
  return (
    <Page
      title={t('dead.title')}
      lead={t('dead.lead')}
      actions={
        may && letters.length > 0 ? (
          <>
            <Button leftSection={<IconRefresh size={18} aria-hidden />} onClick={() => setAsked('retry')}>
              {t(chosen ? 'dead.retryChosen' : 'dead.retryAll')}
            </Button>
            <Button
              variant="default"
              leftSection={<IconTrash size={18} aria-hidden />}
              onClick={() => setAsked('discard')}
            >
              {t(chosen ? 'dead.discardChosen' : 'dead.discardAll')}
            </Button>
          </>
        ) : undefined
      }
    >
      {counts.data && counts.data.total > 0 && (
        <Group gap="sm" mb="md" role="group" aria-label={t('dead.byReason')}>
          {counts.data.counts.map((c) => {
            const active = filter.reason === c.reason && filter.network === c.network
            return (
              <UnstyledButton
                key={`${c.reason} ${c.network} ${c.status}`}
                className="dl-card"
                p="sm"
                aria-pressed={active}
                data-reason={c.reason}
                style={
                  active
                    ? {
                        borderColor: 'var(--mantine-primary-color-filled)',
                        boxShadow: 'inset 0 0 0 1px var(--mantine-primary-color-filled)',
                      }
                    : undefined
                }
                onClick={() =>
                  void navigate({ to: '/dead-letters', search: active ? {} : { reason: c.reason, network: c.network } })
                }
              >
                <Group gap="xs" wrap="nowrap">
                  <NetworkIcon network={c.network} />
                  <Text fw={700} size="xl" className="dl-numbers">
                    {c.count}
                  </Text>
                  <div>
                    <Text size="sm" fw={600}>
                      {reason(c.reason)}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {networkName(c.network)} · {t('dead.since')} <Time at={c.oldest} look="short" />
                    </Text>
                  </div>
                </Group>
              </UnstyledButton>
            )
          })}
        </Group>
      )}
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows height={96} />
      ) : letters.length === 0 && chosen && (counts.data?.total ?? 0) > 0 ? (
        <Empty
          icon={IconFilterOff}
          title={t('dead.noneChosen')}
          text={t('dead.noneChosenText', { count: counts.data?.total ?? 0 })}
        >
          <Button onClick={() => void navigate({ to: '/dead-letters', search: {} })}>{t('dead.showAll')}</Button>
        </Empty>
      ) : letters.length === 0 ? (
        <Empty
          icon={IconMoodCheck}
          title={t('dead.none')}
          text={t('dead.noneText')}
          guide="how-to/resolve-dead-letters"
        />
      ) : (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {letters.map((d) => (
            <Letter key={d.target_id} letter={d} />
          ))}
        </Stack>
      )}
      {list.hasNextPage && (
        <Button variant="default" mt="md" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
      {asked && <Look what={asked} filter={filter} close={() => setAsked(undefined)} />}
    </Page>
  )
}

/** Why it is not out, in plain words, and what helps. */
function cause(d: Schemas['DeadLetter']): string {
  const keys = [`dead.causes.${d.code}`, `dead.causes.${d.reason}`]
  const key = keys.find((k) => i18n.exists(k))
  return key ? i18n.t(key as 'dead.causes.auth', { handle: d.handle, network: networkName(d.network) }) : ''
}

/** Of how many posts the outcome of a bulk retry is told; the list shows the others. */
const maxOutcomes = 20

const focusRow = (row: Element | null | undefined) => row instanceof HTMLElement && row.focus()

function Letter({ letter: d }: { letter: Schemas['DeadLetter'] }) {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  return (
    <li className="dl-card dl-dead" data-dead={d.post_id} tabIndex={-1}>
      <Stack gap={4} p="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="sm">
            <AccountName network={d.network} handle={d.handle} />
            <StatusBadge status={d.status} size="sm" />
          </Group>
          <Text size="sm" c="dimmed">
            <Time at={d.since} look="short" />
          </Text>
        </Group>
        <LinkAnchor to="/posts/$id" params={{ id: d.post_id }} className="dl-text" c="inherit" fw={500} lineClamp={2}>
          {d.content || t('post.noText')}
        </LinkAnchor>
        <Text size="sm">
          <strong>{reason(d.reason)}.</strong> {cause(d)}
        </Text>
        {d.differences?.map((n) => (
          <Text key={n.code} size="sm" c="dimmed" className="dl-text">
            {noteText(n)}
          </Text>
        ))}
        {d.message && !d.differences && (
          <Text size="sm" c="dimmed" className="dl-text">
            {isQuoted(d) && `${t('dead.said')} `}
            <Cause cause={d} />
          </Text>
        )}
        <Group gap="xs">
          <Decisions
            post={{ id: d.post_id }}
            target={{
              id: d.target_id,
              status: d.status,
              handle: d.handle,
              needs_review: d.reason === 'differs',
              differences: d.differences?.map((n) => ({ ...n, segment: 0 })),
            }}
          />
          {d.reason === 'auth' && (
            <LinkButton
              size="xs"
              variant="default"
              to="/accounts"
              leftSection={<IconPlugConnected size={16} aria-hidden />}
            >
              {t('accounts.reconnect')}
            </LinkButton>
          )}
          {may && d.status === 'failed' && <RescheduleMenu id={d.post_id} size="xs" />}
          {may && d.status === 'failed' && (
            <LinkButton
              size="xs"
              variant="default"
              to="/compose"
              search={{ id: d.post_id }}
              leftSection={<IconPencil size={16} aria-hidden />}
            >
              {t('post.edit')}
            </LinkButton>
          )}
        </Group>
      </Stack>
    </li>
  )
}

/** Previews a bulk action before it is executed. */
function Look({
  what,
  filter,
  close,
}: {
  what: 'retry' | 'discard'
  filter: { reason?: string; network?: string }
  close: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const choice: Schemas['DeadLetterChoice'] = {
    ...(filter.reason ? { reasons: [filter.reason] } : {}),
    ...(filter.network ? { networks: [filter.network] } : {}),
    ...(!filter.reason && !filter.network ? { all: true } : {}),
  }
  const send = (dry_run: boolean) => {
    const body = { ...choice, dry_run }
    return what === 'retry'
      ? unwrap(api.POST('/api/v1/dead-letters/retry', { body }))
      : unwrap(api.POST('/api/v1/dead-letters/discard', { body }))
  }
  const look = useQuery({
    queryKey: ['dead-letters', 'look', what, choice],
    queryFn: () => send(true),
    staleTime: 0,
    gcTime: 0,
  })
  const act = useAct({
    send: () => send(false),
    accepted: (answer) => {
      void client.invalidateQueries({ queryKey: ['dead-letters'] })
      if (what === 'retry') void notifyOutcome(answer.posts.slice(0, maxOutcomes))
      close()
    },
    done: (answer) => t(what === 'retry' ? 'dead.retried' : 'dead.discarded', { count: answer.posts.length }),
  })
  return (
    <Modal
      opened
      onClose={close}
      title={t(what === 'retry' ? 'dead.askRetry' : 'dead.askDiscard')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {look.error ? (
        <Failed error={look.error} retry={() => void look.refetch()} />
      ) : !look.data ? (
        <Waiting />
      ) : (
        <Stack>
          <Text data-look>
            {t(what === 'retry' ? 'dead.wouldRetry' : 'dead.wouldDiscard', { count: look.data.posts.length })}
          </Text>
          {what === 'retry' && look.data.matched > look.data.posts.length && (
            <Text size="sm" c="dimmed">
              {t('dead.notAll')}
            </Text>
          )}
          {look.data.more && (
            <Text size="sm" c="dimmed">
              {t('dead.moreThanOnce')}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button
              color={what === 'discard' ? 'red' : undefined}
              disabled={look.data.posts.length === 0}
              loading={act.isPending}
              onClick={() => act.mutate()}
            >
              {t(what === 'retry' ? 'dead.doRetry' : 'dead.doDiscard')}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
