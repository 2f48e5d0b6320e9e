import { ActionIcon, Badge, Button, Collapse, Group, Stack, Switch, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBookmark, IconPencil, IconSearch, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ifMatchHeader, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { Feed } from '../../components/Feed'
import { LinkAnchor, LinkButton } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, Waiting } from '../../components/states'
import { Modal } from '../../components/Modal'
import { useAct } from '../../lib/act'
import { showChange } from '../../lib/optimistic'
import { fields, searchOf } from '../../lib/news'
import { savedQuery } from '../../lib/newsQueries'
import { useAtLeast } from '../../lib/session'
import { EditSearch } from './EditSearch'

type Saved = Schemas['SavedSearch']

/** The saved searches of the workspace, their matches and their feeds. */
export function SavedPage() {
  const { t } = useTranslation()
  const list = useQuery(savedQuery)
  return (
    <NewsFrame title={t('news.saved')} lead={t('saved.lead')}>
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Waiting />
      ) : list.data.length === 0 ? (
        <Empty icon={IconBookmark} title={t('saved.none')} text={t('saved.noneText')} guide="how-to/save-a-search">
          <LinkButton to="/news" leftSection={<IconSearch size={18} aria-hidden />}>
            {t('news.articles')}
          </LinkButton>
        </Empty>
      ) : (
        <Stack gap="sm">
          {list.data.map((n) => (
            <Kept key={n.id} search={n} />
          ))}
        </Stack>
      )}
    </NewsFrame>
  )
}

function Kept({ search: n }: { search: Saved }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('author')
  const [editing, edit] = useDisclosure()
  const [asking, ask] = useDisclosure()
  const [open, setOpen] = useState<'alerts' | 'feed'>()
  const settled = () => client.invalidateQueries({ queryKey: ['saved-searches'] })
  const params = { path: { id: n.id } }
  const alert = useAct({
    send: ({ on, version }: { on: boolean; version: number }) =>
      unwrap(
        api.PATCH('/api/v1/saved-searches/{id}', {
          params: { ...params, header: ifMatchHeader(version) },
          body: { alert: on },
        }),
      ),
    show: ({ on }) =>
      showChange<Saved>(client, savedQuery.queryKey, (one) => (one.id === n.id ? { ...one, alert: on } : one)),
    done: (_, { on }) => t(on ? 'act.on' : 'act.off', { name: `${t('saved.alerts')}, ${n.name}` }),
    undo: ({ version }, { on }) => ({ on: !on, version }),
    failed: () => t('act.refused', { name: n.name }),
    about: savedQuery.queryKey,
  })
  const remove = useAct({
    send: () => unwrap(api.DELETE('/api/v1/saved-searches/{id}', { params })),
    settled,
    done: () => t('saved.removed', { name: n.name }),
  })
  const found = searchOf(n)
  const toggle = (what: 'alerts' | 'feed') => setOpen(open === what ? undefined : what)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="article" aria-label={n.name} data-saved={n.name}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <Stack gap={4} miw={0} flex={1}>
          <LinkAnchor to="/news" search={found} fw={600} className="dl-text">
            {n.name}
          </LinkAnchor>
          <Group gap={6}>
            {n.query && (
              <Text size="sm" className="dl-text">
                {n.query}
              </Text>
            )}
            {fields.flatMap((f) =>
              (found[f] ?? []).map((v) => (
                <Badge key={f + v} variant="light" color="gray" tt="none" title={t(`search.fields.${f}`)}>
                  {v}
                </Badge>
              )),
            )}
          </Group>
        </Stack>
        {may && (
          <Group gap={4} wrap="nowrap">
            <Tooltip label={t('saved.edit')}>
              <ActionIcon
                variant="subtle"
                color="gray"
                onClick={edit.open}
                aria-label={`${t('saved.edit')}: ${n.name}`}
              >
                <IconPencil size={18} aria-hidden />
              </ActionIcon>
            </Tooltip>
            <Tooltip label={t('saved.remove')}>
              <ActionIcon
                variant="subtle"
                color="red"
                onClick={ask.open}
                aria-label={`${t('saved.remove')}: ${n.name}`}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Tooltip>
          </Group>
        )}
      </Group>
      <Group gap="md">
        <Switch
          label={t('saved.alerts')}
          disabled={!may}
          checked={n.alert}
          onChange={(e) => alert.mutate({ on: e.currentTarget.checked, version: n.version })}
        />
        {!n.alert && (
          <Badge variant="light" color="gray" tt="none">
            {t('saved.paused')}
          </Badge>
        )}
        <Text size="sm" c="dimmed" data-alerts={n.alert_count}>
          {t('saved.alertCount', {
            count: n.alert_count,
            number: new Intl.NumberFormat(i18n.language).format(n.alert_count),
          })}
          {n.last_alerted_at && (
            <>
              , <Ago at={n.last_alerted_at} />
            </>
          )}
        </Text>
      </Group>
      <Group gap="xs">
        <LinkButton
          to="/news"
          search={found}
          size="xs"
          variant="default"
          leftSection={<IconSearch size={16} aria-hidden />}
        >
          {t('saved.open')}
        </LinkButton>
        <Button
          size="xs"
          variant="default"
          onClick={() => toggle('alerts')}
          aria-expanded={open === 'alerts'}
          disabled={n.alert_count === 0}
        >
          {t('saved.alertList')}
        </Button>
        {may && (
          <Button size="xs" variant="default" onClick={() => toggle('feed')} aria-expanded={open === 'feed'}>
            {t('saved.feeds')}
          </Button>
        )}
      </Group>
      <Collapse expanded={open !== undefined} keepMounted={false}>
        {open === 'alerts' && <Alerts id={n.id} />}
        {open === 'feed' && <Feed id={n.id} open={n.feed} />}
      </Collapse>
      {editing && <EditSearch search={n} close={edit.close} />}
      <Modal
        opened={asking}
        onClose={ask.close}
        title={t('saved.remove')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text size="sm">{t('saved.removeText', { name: n.name })}</Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={ask.close}>
              {t('cancel')}
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
              {t('saved.removeDo')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Stack>
  )
}

/** The articles that a saved search matched. */
function Alerts({ id }: { id: string }) {
  const { t } = useTranslation()
  const list = useInfiniteQuery({
    queryKey: ['saved-searches', id, 'matches'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/saved-searches/{id}/matches', {
          params: { path: { id }, query: { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  return (
    <Stack gap={6}>
      {list.data.pages
        .flatMap((p) => p.matches)
        .map((m) => (
          <div key={m.article_id} data-match={m.article_id}>
            <LinkAnchor to="/news/articles/$id" params={{ id: m.article_id }} size="sm" className="dl-text">
              {m.title}
            </LinkAnchor>
            <Text size="xs" c="dimmed">
              {m.domain} · <Ago at={m.alerted_at} />
            </Text>
          </div>
        ))}
      {list.hasNextPage && (
        <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}
