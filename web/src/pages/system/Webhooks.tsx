import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Code,
  Group,
  MultiSelect,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconSend, IconTrash, IconWebhook } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { Deliveries } from './Deliveries'
import { forget, useFormState } from '../../lib/formState'
import { typeKey } from './words'

export const types: Schemas['WebhookType'][] = [
  'post.posted',
  'post.failed',
  'post.uncertain',
  'post.differs',
  'post.late',
  'post.submitted',
  'post.approved',
  'post.rejected',
  'account.needs_reconnect',
  'account.expiring',
  'domain.selectors_learned',
  'domain.selectors_rolled_back',
  'domain.selectors_failed',
  'article.matched',
  'story.missed',
  'site.spike',
  'site.drop',
  'system.trouble',
  'system.recovered',
  'rule.paused',
  'page.changed',
]

export function Webhooks() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const list = useQuery({
    queryKey: ['webhooks'],
    refetchInterval: 5000,
    queryFn: async () => (await unwrap(api.GET('/api/v1/webhooks'))).webhooks,
  })
  const form = 'webhook'
  const [url, setURL] = useFormState(form, 'url', '')
  const [chosen, setChosen] = useFormState<string[]>(form, 'chosen', [])
  const settled = () => client.invalidateQueries({ queryKey: ['webhooks'] })
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/webhooks', {
          params: { header: idempotencyHeader() },
          body: { url, types: chosen as Schemas['WebhookType'][] },
        }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => undefined,
  })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <WaitingRows rows={2} height={110} />
  return (
    <Stack>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          make.mutate()
        }}
      >
        <Group align="flex-end" gap="sm" className="dl-form">
          <TextInput
            label={t('system.hookURL')}
            type="url"
            required
            placeholder="https://"
            value={url}
            onChange={(e) => setURL(e.currentTarget.value)}
            miw={240}
          />
          <MultiSelect
            label={t('system.hookTypes')}
            placeholder={chosen.length === 0 ? t('calendar.all') : ''}
            data={types.map((value) => ({ value, label: t(`channels.types.${typeKey(value)}`) }))}
            searchable
            value={chosen}
            onChange={setChosen}
            miw={220}
            maw={420}
          />
          <Button type="submit" leftSection={<IconWebhook size={18} aria-hidden />} loading={make.isPending}>
            {t('system.addHook')}
          </Button>
        </Group>
      </form>
      {make.data?.secret && (
        <Alert color="yellow" title={t('system.hookOnce')} role="status">
          <Code block>{make.data.secret}</Code>
        </Alert>
      )}
      {list.data.length === 0 ? (
        <Empty
          icon={IconWebhook}
          title={t('system.noHooks')}
          text={t('system.noHooksText')}
          guide="how-to/receive-webhooks"
        />
      ) : (
        list.data.map((h) => <Hook key={h.id} hook={h} settled={settled} />)
      )}
    </Stack>
  )
}

function Hook({ hook: h, settled }: { hook: Schemas['Webhook']; settled: () => unknown }) {
  const { t } = useTranslation()
  const [opened, { toggle }] = useDisclosure()
  const client = useQueryClient()
  const params = { path: { id: h.id } }
  const set = useAct({
    send: (on: boolean) =>
      unwrap(api.PATCH('/api/v1/webhooks/{id}', { params, body: { status: on ? 'enabled' : 'disabled' } })),
    show: (on) =>
      showChange<Schemas['Webhook']>(client, ['webhooks'], (one) =>
        one.id === h.id ? { ...one, status: on ? 'enabled' : 'disabled' } : one,
      ),
    done: (_, on) => t(on ? 'act.on' : 'act.off', { name: h.url }),
    undo: (_, on) => !on,
    failed: () => t('act.refused', { name: h.url }),
    about: ['webhooks'],
  })
  const test = useAct({
    send: () => unwrap(api.POST('/api/v1/webhooks/{id}/test', { params })),
    settled: () => void client.invalidateQueries({ queryKey: ['deliveries', h.id] }),
    done: () => t('system.hookTested'),
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/webhooks/{id}', { params })),
    show: () => showChange<Schemas['Webhook']>(client, ['webhooks'], (one) => (one.id === h.id ? undefined : one)),
    settled,
    done: () => t('act.deleted', { name: h.url }),
  })
  return (
    <Stack gap={6} className="dl-card" p="md" component="article" aria-label={h.url}>
      <Group justify="space-between" gap="xs">
        <Text fw={600} className="dl-text">
          {h.url}
        </Text>
        <Group gap="xs">
          <Switch
            size="sm"
            label={t('system.hookOn')}
            checked={h.status === 'enabled'}
            onChange={(e) => set.mutate(e.currentTarget.checked)}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<IconSend size={16} aria-hidden />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            {t('system.hookTest')}
          </Button>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={t('system.hookRemove', { address: h.url })}
            onClick={() => remove.mutate()}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <Group gap={6}>
        <Text size="sm" c="dimmed">
          {t('system.hookTypes')}
        </Text>
        {h.types.length === 0 && <Text size="sm">{t('calendar.all')}</Text>}
        {h.types.map((x) => (
          <Badge key={x} variant="light" color="gray" tt="none" title={x}>
            {t(`channels.types.${typeKey(x)}`)}
          </Badge>
        ))}
      </Group>
      {h.failing_since && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t('system.failing')} <Time at={h.failing_since} />
        </Text>
      )}
      {h.disabled_reason && h.disabled_reason !== 'owner' && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t(`hooks.disabled.${h.disabled_reason}`)}
        </Text>
      )}
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-expanded={opened}
        onClick={toggle}
        style={{ alignSelf: 'flex-start' }}
        rightSection={
          <IconChevronDown size={16} aria-hidden style={{ transform: opened ? 'rotate(180deg)' : undefined }} />
        }
      >
        {t('hooks.deliveries')}
      </Button>
      {opened && <Deliveries hook={h.id} />}
    </Stack>
  )
}
