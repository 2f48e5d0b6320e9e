import { Badge, Button, Collapse, Group, Stack, Text } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconPlus, IconRobot } from '@tabler/icons-react'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { useConfirm } from '../../components/Confirm'
import { Page } from '../../components/Page'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAct } from '../../lib/act'
import { accountsQuery } from '../../lib/queries'
import { showChange } from '../../lib/optimistic'
import { useHash } from '../../lib/hash'
import { useAtLeast, useMe } from '../../lib/session'
import { Decisions } from './Decisions'
import { type NewRule, newRule, type Rule } from './definition'
import { Editor } from './Editor'
import { summaryOf } from './summary'
import { useNames } from './useNames'

const rulesQuery = queryOptions({
  queryKey: ['rules'],
  queryFn: async () => (await unwrap(api.GET('/api/v1/rules'))).rules,
  refetchInterval: 10_000,
})

/** Rules that create posts from new articles, and what they decided. */
export function RulesPage() {
  const { t } = useTranslation()
  const me = useMe()
  const may = useAtLeast('editor')
  const list = useQuery(rulesQuery)
  useHash(list.isSuccess)
  const [editing, setEditing] = useState<{ rule: NewRule; id?: string; version?: number }>()
  const accounts = useQuery(accountsQuery).data ?? []
  const defaults = accounts.filter((a) => a.default && a.status === 'connected').map((a) => a.id)
  const create = () => setEditing({ rule: newRule(me.workspace.time_zone, defaults) })
  const button = may && (
    <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={create}>
      {t('rules.new')}
    </Button>
  )
  return (
    <Page title={t('nav.rules')} lead={t('rules.lead')} actions={list.data && list.data.length > 0 && button}>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <WaitingRows />
      ) : list.data.length === 0 ? (
        <Empty icon={IconRobot} title={t('rules.none')} text={t('rules.noneText')} guide="how-to/post-articles-by-rule">
          {button}
        </Empty>
      ) : (
        <Stack gap="sm">
          {list.data.map((r) => (
            <RuleCard
              key={r.id}
              rule={r}
              edit={() =>
                setEditing({ rule: { name: r.name, definition: r.definition }, id: r.id, version: r.version })
              }
            />
          ))}
        </Stack>
      )}
      {editing && (
        <Editor start={editing.rule} id={editing.id} version={editing.version} close={() => setEditing(undefined)} />
      )}
    </Page>
  )
}

function RuleCard({ rule: r, edit }: { rule: Rule; edit: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const [open, setOpen] = useState(false)
  const [dialog, ask] = useConfirm()
  const params = { path: { id: r.id } }
  const names = useNames()
  const isPaused = r.status === 'paused'
  const toggle = useAct({
    send: (status: Rule['status']) =>
      unwrap(
        status === 'active'
          ? api.POST('/api/v1/rules/{id}/resume', { params })
          : api.POST('/api/v1/rules/{id}/pause', { params }),
      ),
    show: (status) =>
      showChange<Rule>(client, rulesQuery.queryKey, (one) =>
        one.id === r.id ? { ...one, status, pause_reason: undefined, pause_error: undefined } : one,
      ),
    done: (_, status) => t(status === 'active' ? 'rules.resumed' : 'rules.paused', { name: r.name }),
    undo: (_, status) => (status === 'active' ? 'paused' : 'active'),
    failed: () => t('act.refused', { name: r.name }),
    about: rulesQuery.queryKey,
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/rules/{id}', { params })),
    show: () => showChange<Rule>(client, rulesQuery.queryKey, (one) => (one.id === r.id ? undefined : one)),
    done: () => t('rules.deleted', { name: r.name }),
    failed: () => t('act.refused', { name: r.name }),
    about: rulesQuery.queryKey,
  })
  return (
    <Stack gap="xs" className="dl-card" p="md" component="article" id={r.id} aria-label={r.name} data-rule={r.name}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text fw={600} className="dl-text">
            {r.name}
          </Text>
          <Badge variant="light" color={isPaused ? 'orange' : 'green'} tt="none">
            {t(isPaused ? 'rules.status.paused' : 'rules.status.active')}
          </Badge>
          <Badge variant="light" color="gray" tt="none">
            {t(`rules.modes.${r.definition.mode}`)}
          </Badge>
          {r.attention_count > 0 && (
            <Badge variant="light" color="red" tt="none">
              {t('rules.attentionCount', { count: r.attention_count })}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {t('rules.postsToday', {
            count: r.posts_last_24_hours,
            number: new Intl.NumberFormat(i18n.language).format(r.posts_last_24_hours),
          })}
          {r.last_decision_at && (
            <>
              {' · '}
              {t('rules.lastDecision')} <Ago at={r.last_decision_at} />
            </>
          )}
        </Text>
      </Group>
      <Text size="sm" className="dl-text" data-summary>
        {summaryOf(r.definition, names, t, i18n.language)}
      </Text>
      {isPaused && (
        <Text size="sm" data-pause={r.pause_reason}>
          {t(`rules.pause.${r.pause_reason ?? 'member'}`)} <span lang="en">{r.pause_error}</span>
        </Text>
      )}
      <Group gap="xs">
        <Button size="xs" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('rules.decisions')}
        </Button>
        {may && (
          <>
            <Button size="xs" variant="default" onClick={edit}>
              {t('rules.edit')}
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={() => toggle.mutate(isPaused ? 'active' : 'paused')}
              leftSection={
                isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />
              }
            >
              {t(isPaused ? 'rules.resume' : 'rules.pauseDo')}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={() =>
                ask({
                  title: t('rules.delete'),
                  text: t('rules.deleteText', { name: r.name }),
                  action: t('rules.delete'),
                  danger: true,
                  run: () => remove.mutate(),
                })
              }
            >
              {t('rules.delete')}
            </Button>
          </>
        )}
      </Group>
      <Collapse expanded={open} keepMounted={false}>
        {open && <Decisions rule={r.id} />}
      </Collapse>
      {dialog}
    </Stack>
  )
}
