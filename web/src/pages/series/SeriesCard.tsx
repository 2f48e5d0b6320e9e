import { ActionIcon, Alert, Badge, Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconRepeat, IconSquareOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Schemas, unwrap } from '../../api/client'
import { AccountName } from '../../components/network'
import { Time } from '../../components/Time'
import { Modal } from '../../components/Modal'
import { noteText } from '../../i18n/message'
import { formatWall } from '../../lib/time'
import { accountsQuery } from '../../lib/queries'
import { describeRule } from '../../lib/rule'
import { useAtLeast } from '../../lib/session'
import { EditSeries } from './EditSeries'
import { Occurrences } from './Occurrences'
import { useSeriesChange } from './useSeriesChange'

type Series = Schemas['Series']

const colors = { active: 'green', paused: 'yellow', ended: 'gray' } as const

/** One series: its content, rule and next occurrences. */
export function SeriesCard({ series: s }: { series: Series }) {
  const { t, i18n } = useTranslation()
  const may = useAtLeast('author')
  const accounts = useQuery(accountsQuery).data ?? []
  const change = useSeriesChange()
  const [editing, edit] = useDisclosure()
  const [ending, end] = useDisclosure()
  const turn = (now: Series, status: 'active' | 'paused'): Parameters<typeof change.mutate>[0] => {
    const params = { path: { id: now.id }, header: ifMatchHeader(now.version) }
    return {
      id: now.id,
      status,
      send: () =>
        unwrap(
          status === 'paused'
            ? api.POST('/api/v1/series/{id}/pause', { params })
            : api.POST('/api/v1/series/{id}/resume', { params }),
        ),
      done: t(status === 'paused' ? 'series.isPaused' : 'series.isResumed'),
      undo: (changed) => turn(changed, status === 'paused' ? 'active' : 'paused'),
    }
  }
  const to = accounts.filter((a) => s.template.accounts?.includes(a.id))
  return (
    <Stack
      gap="sm"
      className="dl-card"
      p="md"
      component="article"
      aria-label={s.template.content || t('post.noText')}
      data-series={s.id}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <IconRepeat size={18} aria-hidden />
            <Text fw={600}>{describeRule(s.rule, s.starts, t, i18n.language)}</Text>
            <Badge variant="light" tt="none" color={colors[s.status]} data-status={s.status}>
              {t(`series.status.${s.status}`)}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed">
            {t('series.at', { clock: s.starts.slice(11, 16), zone: s.time_zone })}
          </Text>
        </Stack>
        {may && s.status !== 'ended' && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={t('series.more')} loading={change.isPending}>
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={edit.open}>
                {t('post.edit')}
              </Menu.Item>
              {s.status === 'active' ? (
                <Menu.Item
                  leftSection={<IconPlayerPause size={16} aria-hidden />}
                  onClick={() => change.mutate(turn(s, 'paused'))}
                >
                  {t('series.pause')}
                </Menu.Item>
              ) : (
                <Menu.Item
                  leftSection={<IconPlayerPlay size={16} aria-hidden />}
                  onClick={() => change.mutate(turn(s, 'active'))}
                >
                  {t('series.resume')}
                </Menu.Item>
              )}
              <Menu.Item color="red" leftSection={<IconSquareOff size={16} aria-hidden />} onClick={end.open}>
                {t('series.end')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Text className="dl-text" lineClamp={4}>
        {s.template.content || t('post.noText')}
      </Text>
      <Group gap="md">
        {to.length > 0 ? (
          to.map((a) => <AccountName key={a.id} network={a.network} handle={a.handle} />)
        ) : (
          <Text size="sm" c="dimmed">
            {t('series.usualAccounts')}
          </Text>
        )}
      </Group>
      {s.last_error && (
        <Alert color="red" p="xs" title={t('series.problem')}>
          <Text size="sm" className="dl-text">
            {(s.last_error_notes ?? []).map(noteText).join(' ')}
          </Text>
        </Alert>
      )}
      {s.missed[0] && (
        <Text size="sm" c="dimmed" className="dl-text">
          {t('series.missed', { when: formatWall(`${s.missed[0].occurrence.slice(0, 16)}:00`, i18n.language) })}{' '}
          {s.missed[0].notes.map(noteText).join(' ')}
        </Text>
      )}
      {s.status !== 'ended' && <Occurrences series={s} may={may} />}
      {s.updated_at !== s.created_at && (
        <Text size="xs" c="dimmed">
          {t('series.changed')} <Time at={s.updated_at} look="short" />
        </Text>
      )}
      {editing && <EditSeries series={s} close={edit.close} />}
      {ending && <End series={s} close={end.close} />}
    </Stack>
  )
}

/** Asks what happens to the posts that a series has already created. */
function End({ series: s, close }: { series: Series; close: () => void }) {
  const { t } = useTranslation()
  const change = useSeriesChange()
  const [posts, setPosts] = useState<'keep' | 'cancel'>()
  const go = (what: 'keep' | 'cancel') => {
    setPosts(what)
    const params = {
      path: { id: s.id },
      header: ifMatchHeader(s.version),
      query: { cancel_scheduled: what === 'cancel' },
    }
    change.mutate(
      { send: () => unwrap(api.DELETE('/api/v1/series/{id}', { params })), done: t('series.isEnded') },
      { onSuccess: close },
    )
  }
  return (
    <Modal opened onClose={close} title={t('series.endAsk')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack>
        <Text size="sm">{t('series.endText')}</Text>
        <Group justify="flex-end">
          <Button variant="default" loading={change.isPending && posts === 'keep'} onClick={() => go('keep')}>
            {t('series.endKeep')}
          </Button>
          <Button color="red" loading={change.isPending && posts === 'cancel'} onClick={() => go('cancel')}>
            {t('series.endCancel')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
