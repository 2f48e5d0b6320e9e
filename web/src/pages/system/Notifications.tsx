import { ActionIcon, Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { IconBell, IconPencil, IconPlus, IconSend, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { noteText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { EditChannel } from './EditChannel'
import { typeKey } from './words'

type Channel = Schemas['NotificationChannel']

/** The notification channels of the user. */
export function Notifications() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const list = useQuery({
    queryKey: ['channels'],
    refetchInterval: 5000,
    queryFn: () => unwrap(api.GET('/api/v1/notification-channels')),
  })
  const [editing, setEditing] = useState<Channel | 'new'>()
  const settled = () => void client.invalidateQueries({ queryKey: ['channels'] })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <WaitingRows rows={2} height={110} />
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('channels.text')}
        </Text>
        {list.data.channels.length > 0 && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setEditing('new')}>
            {t('channels.add')}
          </Button>
        )}
      </Group>
      {list.data.channels.length === 0 ? (
        <Empty icon={IconBell} title={t('channels.none')} text={t('channels.noneText')} guide="how-to/get-notified">
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setEditing('new')}>
            {t('channels.add')}
          </Button>
        </Empty>
      ) : (
        list.data.channels.map((c) => <One key={c.id} channel={c} edit={() => setEditing(c)} settled={settled} />)
      )}
      {editing && (
        <EditChannel
          channel={editing === 'new' ? undefined : editing}
          canSendEmail={list.data.can_send_email}
          pushKey={list.data.push_key}
          close={() => setEditing(undefined)}
          settled={settled}
        />
      )}
    </Stack>
  )
}

function One({ channel: c, edit, settled }: { channel: Channel; edit: () => void; settled: () => void }) {
  const { t } = useTranslation()
  const [dialog, ask] = useConfirm()
  const client = useQueryClient()
  const params = { path: { id: c.id } }
  const test = useAct({
    send: () => unwrap(api.POST('/api/v1/notification-channels/{id}/test', { params })),
    settled,
    done: () => t(c.confirmed ? 'channels.tested' : 'channels.confirmationSent'),
  })
  const again = useAct({
    send: () => unwrap(api.POST('/api/v1/notification-channels/{id}/redeliver-dead', { params })),
    settled,
    done: ({ redelivered }) => t('channels.retried', { count: redelivered }),
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/notification-channels/{id}', { params })),
    show: () => showChange<Channel>(client, ['channels'], (one) => (one.id === c.id ? undefined : one)),
    settled,
    done: () => t('act.deleted', { name: c.name }),
  })
  const isOn = c.status === 'enabled'
  return (
    <Stack gap={6} className="dl-card" p="md" component="article" aria-label={c.name} data-outcome={c.last_status}>
      {dialog}
      <Group justify="space-between" gap="xs">
        <div>
          <Text fw={600} className="dl-text">
            {c.name}
          </Text>
          <Text size="sm" c="dimmed" className="dl-text">
            {t(`channels.kinds.${c.kind}`)} · {c.destination} · {t(`channels.digests.${c.digest}`)}
            {c.quiet_from && ` · ${t('channels.quiet', { from: c.quiet_from, to: c.quiet_to })} (${c.time_zone})`}
          </Text>
        </div>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconSend size={16} aria-hidden />}
            loading={test.isPending}
            disabled={!isOn}
            onClick={() => test.mutate()}
          >
            {t(c.confirmed ? 'channels.test' : 'channels.confirmAgain')}
          </Button>
          <Button size="xs" variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={edit}>
            {t('channels.edit')}
          </Button>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={t('channels.remove', { name: c.name })}
            onClick={() =>
              ask({
                title: t('channels.remove', { name: c.name }),
                text: t('channels.removeText'),
                action: t('channels.removeAction'),
                danger: true,
                run: () => remove.mutate(),
              })
            }
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <Group gap={6}>
        {c.types.map((x) => (
          <Badge key={x} variant="light" color="gray" tt="none">
            {t(`channels.types.${typeKey(x)}`)}
          </Badge>
        ))}
      </Group>
      {!c.confirmed && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t('channels.unconfirmed')}
        </Text>
      )}
      {c.failing_since && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t('channels.failing')} <Time at={c.failing_since} />
        </Text>
      )}
      {c.last_error && c.last_status !== 'delivered' && (
        <Text size="sm" c="var(--mantine-color-error)" className="dl-text">
          {t('channels.last')} {noteText(c.last_error)}
        </Text>
      )}
      {c.disabled_reason && c.disabled_reason !== 'owner' && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t(`channels.disabled.${c.disabled_reason}`)}
        </Text>
      )}
      {c.dead > 0 && (
        <Alert color="red" p="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('channels.dead', { count: c.dead })}</Text>
            <Button
              size="compact-sm"
              variant="default"
              loading={again.isPending}
              disabled={!isOn}
              onClick={() => again.mutate()}
            >
              {t('channels.retry')}
            </Button>
          </Group>
        </Alert>
      )}
    </Stack>
  )
}
