import { ActionIcon, Alert, Badge, Button, Group, Menu, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconCalendarMonth,
  IconDots,
  IconHeartbeat,
  IconPencil,
  IconPlugConnected,
  IconPlugOff,
  IconPlus,
  IconUsersGroup,
} from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, unwrap } from '../../api/client'
import { AccountAvatar } from '../../components/Avatar'
import { useConfirm } from '../../components/Confirm'
import { LinkButton } from '../../components/links'
import { displayName, networkName } from '../../components/network'
import { Page } from '../../components/Page'
import { Empty, Failed, WaitingCards } from '../../components/states'
import { Time } from '../../components/Time'
import { Cause } from '../../components/Cause'
import { causeText, noteText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { accountsQuery } from '../../lib/queries'
import { useHash } from '../../lib/hash'
import { notifySuccess } from '../../lib/notify'
import { useAtLeast } from '../../lib/session'
import { relative } from '../../lib/time'
import { ChooseAccounts, Connect } from './Connect'
import { EditAccount } from './EditAccount'
import { Groups } from './Groups'

const route = getRouteApi('/accounts')

/** The accounts with their status and expiry. */
export function AccountsPage() {
  const { t } = useTranslation()
  const accounts = useQuery(accountsQuery)
  useHash(accounts.isSuccess)
  const may = useAtLeast('editor')
  const [opened, { open, close }] = useDisclosure()
  const connect = may && (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={open}>
      {t('accounts.connect')}
    </Button>
  )
  return (
    <Page title={t('accounts.title')} lead={t('accounts.lead')} actions={accounts.data?.length ? connect : undefined}>
      <Refused />
      <Landed accounts={accounts.data} />
      {accounts.error ? (
        <Failed error={accounts.error} retry={() => void accounts.refetch()} />
      ) : !accounts.data ? (
        <WaitingCards height={210} />
      ) : accounts.data.length === 0 ? (
        <Empty icon={IconUsersGroup} title={t('accounts.none')} text={t('accounts.noneText')}>
          {connect}
        </Empty>
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
          {accounts.data.map((a) => (
            <AccountCard key={a.id} account={a} />
          ))}
        </SimpleGrid>
      )}
      {accounts.data && accounts.data.length > 0 && <Groups accounts={accounts.data} />}
      {opened && <Connect close={close} />}
    </Page>
  )
}

const reasons = [
  'not_allowed',
  'unknown',
  'other_session',
  'other_identity',
  'nobody',
  'network_unreachable',
  'network_refused',
  'not_configured',
  'failed',
] as const

/** Shows why connecting failed, after the redirect from a network. */
function Refused() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { refused } = route.useSearch()
  if (!refused) return null
  const reason = reasons.find((r) => r === refused) ?? 'failed'
  return (
    <Alert
      color="red"
      icon={<IconPlugOff aria-hidden />}
      title={t('accounts.refused')}
      mb="md"
      role="alert"
      withCloseButton
      closeButtonLabel={t('close')}
      onClose={() => void navigate({ to: '/accounts', replace: true })}
      data-refused={reason}
    >
      {t(`accounts.errors.${reason}`)}
    </Alert>
  )
}

/** After the redirect from a network: shows the connected accounts, or lets the user choose among several. */
function Landed({ accounts }: { accounts?: Account[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { connected, choice } = route.useSearch()
  const leave = () => void navigate({ to: '/accounts', replace: true })
  useEffect(() => {
    if (!connected || !accounts) return
    const handles = accounts
      .filter((a) => a.status === 'connected' && connected.split(',').includes(a.id))
      .map((a) => a.handle)
    if (handles.length > 0) notifySuccess(t('accounts.connected', { handle: handles.join(', ') }))
    void navigate({ to: '/accounts', replace: true })
  }, [connected, accounts, navigate, t])
  return choice ? <ChooseAccounts id={choice} close={leave} /> : null
}

const colors = { connected: 'green', needs_reconnect: 'red', disconnected: 'gray' } as const

/** Notes that are no warnings have colors of their own. */
const noteColors: Record<string, string> = { account_plan: 'gray', needs_reconnect: 'red' }

function AccountCard({ account: a }: { account: Account }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const path = { id: a.id }
  const changed = () => client.invalidateQueries({ queryKey: ['accounts'] })
  const check = useAct({
    send: () => unwrap(api.POST('/api/v1/accounts/{id}/check', { params: { path } })),
    settled: changed,
    done: (now) => (now.health.error ? causeText(now.health.error) : t('accounts.checked', { handle: a.handle })),
  })
  const standard = useAct({
    send: (on: boolean) => unwrap(api.PATCH('/api/v1/accounts/{id}', { params: { path }, body: { default: on } })),
    show: (on) =>
      showChange<Account>(client, accountsQuery.queryKey, (one) => (one.id === a.id ? { ...one, default: on } : one)),
    done: (_, on) => t(on ? 'accounts.isDefault' : 'accounts.isNotDefault', { name: displayName(a) }),
    undo: (_, on) => !on,
    failed: () => t('act.refused', { name: displayName(a) }),
    about: accountsQuery.queryKey,
  })
  const reconnect = useAct({
    send: () => unwrap(api.POST('/api/v1/accounts/{id}/reconnect', { params: { path } })),
    accepted: ({ authorize_url }) => location.assign(authorize_url),
    done: () => undefined,
  })
  const disconnect = useAct({
    send: () => unwrap(api.POST('/api/v1/accounts/{id}/disconnect', { params: { path } })),
    settled: changed,
    done: (d) => (d.advice ? noteText(d.advice) : t('accounts.disconnected', { handle: a.handle })),
  })
  const [editing, { open: edit, close: closeEdit }] = useDisclosure()
  const [dialog, ask] = useConfirm()
  const confirmDisconnect = () =>
    ask({
      title: t('accounts.disconnectTitle', { handle: a.handle }),
      text: t('accounts.disconnectText'),
      action: t('accounts.disconnect'),
      danger: true,
      run: () => disconnect.mutate(),
    })
  return (
    <Stack
      gap="xs"
      className="dl-card"
      p="md"
      component="article"
      id={a.id}
      aria-label={a.handle}
      data-account={a.network}
    >
      {dialog}
      {editing && <EditAccount account={a} close={closeEdit} />}
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <AccountAvatar name={displayName(a)} picture={a.avatar} network={a.network} size={42} color={a.color} />
          <div style={{ minWidth: 0 }}>
            <Text fw={600} truncate>
              {displayName(a)}
            </Text>
            {displayName(a) !== a.handle && (
              <Text size="sm" c="dimmed" truncate title={a.handle}>
                {a.handle}
              </Text>
            )}
            <Text size="sm" c="dimmed">
              {networkName(a.network)} · {t(`kind.${a.kind}`)}
            </Text>
          </div>
        </Group>
        {may && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon
                variant="subtle"
                color="gray"
                loading={check.isPending || disconnect.isPending || reconnect.isPending}
                aria-label={t('accounts.more', { handle: a.handle })}
              >
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={edit}>
                {t('accounts.edit')}
              </Menu.Item>
              <Menu.Item leftSection={<IconHeartbeat size={16} aria-hidden />} onClick={() => check.mutate()}>
                {t('accounts.check')}
              </Menu.Item>
              <Menu.Item leftSection={<IconPlugConnected size={16} aria-hidden />} onClick={() => reconnect.mutate()}>
                {t('accounts.reconnect')}
              </Menu.Item>
              {a.status !== 'disconnected' && (
                <Menu.Item color="red" leftSection={<IconPlugOff size={16} aria-hidden />} onClick={confirmDisconnect}>
                  {t('accounts.disconnect')}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Group gap={6}>
        <Badge variant="light" tt="none" color={colors[a.status]}>
          {t(`accounts.status.${a.status}`)}
        </Badge>
        {a.sandbox && (
          <Badge variant="light" tt="none" color="gray">
            {t('accounts.sandbox')}
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {a.health.checked_at
          ? t('accounts.checkedAt', { ago: relative(a.health.checked_at, i18n.language) })
          : t('accounts.neverChecked')}
      </Text>
      {a.ends_at && (
        <Text size="sm" c="dimmed">
          {t('accounts.endsAt')} <Time at={a.ends_at} />
        </Text>
      )}
      {a.renews && (
        <Text size="sm" c="dimmed">
          {t('accounts.renews')}
        </Text>
      )}
      {a.health.error && (
        <Alert color="orange" p="xs">
          <Text size="sm">
            <Cause cause={a.health.error} />
          </Text>
        </Alert>
      )}
      <Measuring account={a} />
      {a.warnings.map((w) => (
        <Alert key={w.code} color={noteColors[w.code] ?? 'yellow'} p="xs">
          <Text size="sm">{noteText(w)}</Text>
        </Alert>
      ))}
      {may && a.status !== 'connected' && (
        <Button
          size="xs"
          loading={reconnect.isPending}
          onClick={() => reconnect.mutate()}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('accounts.reconnect')}
        </Button>
      )}
      <Group justify="space-between" gap="xs" mt="auto">
        <Switch
          size="sm"
          label={t('accounts.default')}
          checked={a.default}
          disabled={!may}
          onChange={(e) => standard.mutate(e.currentTarget.checked)}
        />
        <LinkButton
          size="compact-sm"
          variant="subtle"
          to="/calendar"
          search={{ view: 'month', account: a.id }}
          leftSection={<IconCalendarMonth size={16} aria-hidden />}
          aria-label={t('accounts.postsOf', { name: `${networkName(a.network)} ${a.handle}` })}
        >
          {t('accounts.posts')}
        </LinkButton>
      </Group>
    </Stack>
  )
}

/** Whether the metrics of an account's posts are read, and why not. */
function Measuring({ account }: { account: Account }) {
  const { t, i18n } = useTranslation()
  const m = account.measuring
  if (!m || account.status !== 'connected') return null
  const text =
    m.state === 'unsupported'
      ? t('measuring.unsupported')
      : m.state === 'paused'
        ? t(`measuring.reasons.${m.reason}`, { defaultValue: m.message ?? '' })
        : m.missing_scope
          ? t('measuring.missing', { scope: m.missing_scope })
          : m.read_at
            ? t('measuring.readAt', { ago: relative(m.read_at, i18n.language) })
            : undefined
  return (
    text && (
      <Text
        size="sm"
        c={m.missing_scope || m.reason === 'unauthorized' || m.reason === 'no_credits' ? 'red' : 'dimmed'}
        data-measuring={m.reason ?? m.state}
      >
        {text}
      </Text>
    )
  )
}
