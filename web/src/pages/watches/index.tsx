import { Badge, Button, Collapse, Group, Stack, Text } from '@mantine/core'
import { IconEye, IconPlus } from '@tabler/icons-react'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { useConfirm } from '../../components/Confirm'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, Waiting } from '../../components/states'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { useAtLeast } from '../../lib/session'
import { Changes } from './Changes'
import { EditWatch } from './EditWatch'

export type Watch = Schemas['Watch']

const watchesQuery = queryOptions({
  queryKey: ['watches'],
  refetchInterval: 10_000,
  queryFn: async () => (await unwrap(api.GET('/api/v1/watches'))).watches,
})

/** Pages whose changes are reported. */
export function WatchesPage() {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const list = useQuery(watchesQuery)
  const [editing, setEditing] = useState<Watch | 'new'>()
  const button = may && (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setEditing('new')}>
      {t('watches.new')}
    </Button>
  )
  return (
    <NewsFrame title={t('news.watches')} lead={t('watches.lead')} actions={list.data && list.data.length > 0 && button}>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Waiting />
      ) : list.data.length === 0 ? (
        <Empty icon={IconEye} title={t('watches.none')} text={t('watches.noneText')}>
          {button}
        </Empty>
      ) : (
        <Stack gap="sm">
          {list.data.map((w) => (
            <WatchCard key={w.id} watch={w} edit={() => setEditing(w)} />
          ))}
        </Stack>
      )}
      {editing && <EditWatch watch={editing === 'new' ? undefined : editing} close={() => setEditing(undefined)} />}
    </NewsFrame>
  )
}

function WatchCard({ watch: w, edit }: { watch: Watch; edit: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('author')
  const [open, setOpen] = useState<'changes' | 'text'>()
  const [dialog, ask] = useConfirm()
  const settled = () => void client.invalidateQueries({ queryKey: ['watches'] })
  const params = { path: { id: w.id } }
  const check = useAct({
    send: () => unwrap(api.POST('/api/v1/watches/{id}/check', { params })),
    settled,
    done: () => t('watches.checking', { name: w.name }),
  })
  const pause = useAct({
    send: ({ paused, version }: { paused: boolean; version: number }) =>
      unwrap(
        api.PATCH('/api/v1/watches/{id}', { params: { ...params, header: ifMatchHeader(version) }, body: { paused } }),
      ),
    show: ({ paused }) => showChange<Watch>(client, ['watches'], (one) => (one.id === w.id ? { ...one, paused } : one)),
    done: (_, { paused }) => t(paused ? 'act.paused' : 'act.resumed', { name: w.name }),
    undo: ({ version }, { paused }) => ({ paused: !paused, version }),
    failed: () => t('act.refused', { name: w.name }),
    about: ['watches'],
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/watches/{id}', { params })),
    show: () => showChange<Watch>(client, ['watches'], (one) => (one.id === w.id ? undefined : one)),
    settled,
    done: () => t('watches.deleted', { name: w.name }),
  })
  const toggle = (what: 'changes' | 'text') => setOpen(open === what ? undefined : what)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="article" aria-label={w.name} data-watch={w.name}>
      <Group gap="xs">
        <Text fw={600} className="dl-text">
          {w.name}
        </Text>
        <Badge variant="light" color={w.paused ? 'gray' : 'green'} tt="none">
          {t(w.paused ? 'watches.paused' : 'watches.active')}
        </Badge>
      </Group>
      <Text size="sm" className="dl-text">
        <a href={w.url} target="_blank" rel="noreferrer">
          {w.url}
        </a>{' '}
        {w.selector && <code>{w.selector}</code>}
      </Text>
      {w.problem && (
        <Text size="sm" c="red" data-problem={w.problem}>
          {t(`watches.problems.${w.problem}`, { defaultValue: w.problem })}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {t('watches.changes', {
          count: w.change_count,
          number: new Intl.NumberFormat(i18n.language).format(w.change_count),
        })}
        {' · '}
        {w.checked_at ? (
          <>
            {t('watches.checked')} <Ago at={w.checked_at} />
          </>
        ) : (
          t('watches.never')
        )}
        {w.changed_at && (
          <>
            {' · '}
            {t('watches.changed')} <Ago at={w.changed_at} />
          </>
        )}
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" aria-expanded={open === 'changes'} onClick={() => toggle('changes')}>
          {t('watches.changes', {
            count: w.change_count,
            number: new Intl.NumberFormat(i18n.language).format(w.change_count),
          })}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-expanded={open === 'text'}
          disabled={!w.lines}
          onClick={() => toggle('text')}
        >
          {t('watches.text')}
        </Button>
        {may && (
          <>
            <Button
              size="xs"
              variant="default"
              disabled={w.paused}
              loading={check.isPending}
              onClick={() => check.mutate()}
            >
              {t('watches.check')}
            </Button>
            <Button size="xs" variant="default" onClick={() => pause.mutate({ paused: !w.paused, version: w.version })}>
              {t(w.paused ? 'watches.resume' : 'watches.pause')}
            </Button>
            <Button size="xs" variant="default" onClick={edit}>
              {t('watches.edit')}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={() =>
                ask({
                  title: t('watches.delete'),
                  text: t('watches.deleteText', { name: w.name }),
                  action: t('watches.delete'),
                  danger: true,
                  run: () => remove.mutate(),
                })
              }
            >
              {t('watches.delete')}
            </Button>
          </>
        )}
      </Group>
      <Collapse expanded={open !== undefined} keepMounted={false}>
        {open === 'changes' && <Changes watch={w.id} />}
        {open === 'text' && (
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }} className="dl-text">
            {(w.lines ?? []).join('\n')}
          </Text>
        )}
      </Collapse>
      {dialog}
    </Stack>
  )
}
