import { Alert, Anchor, Button, Grid, Group, Stack, Switch, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCode, IconFileText, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { DomainControls, DomainStatus } from '../../components/domain'
import { LinkAnchor, LinkButton } from '../../components/links'
import { noteText } from '../../i18n/message'
import { NoArticle } from '../../components/NoArticle'
import { NewsFrame } from '../../components/NewsFrame'
import { Failed, Waiting } from '../../components/states'
import { Time } from '../../components/Time'
import { Modal } from '../../components/Modal'
import { useAct } from '../../lib/act'
import { showData } from '../../lib/optimistic'
import { crawlPace, domainQuery } from '../../lib/newsQueries'
import { useAtLeast } from '../../lib/session'
import { Figures } from './Figures'
import { Run } from './Run'

const route = getRouteApi('/news/domains/$domain')

type Domain = Schemas['Domain']

/** One site: its live crawl and its articles. */
export function DomainPage() {
  const { domain } = route.useParams()
  const { t } = useTranslation()
  const query = useQuery(domainQuery(domain))
  if (query.error) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <Waiting />
  const d = query.data
  return (
    <NewsFrame
      title={d.domain}
      lead={
        <Group gap="xs" mt={4}>
          <DomainStatus status={d.status} />
          {d.last_crawl && (
            <Text size="sm" span>
              {t('news.lastCrawl')} <Ago at={d.last_crawl} />
            </Text>
          )}
        </Group>
      }
      actions={
        <>
          <DomainControls domain={d} />
          <LinkButton
            to="/news/domains/$domain/extraction"
            params={{ domain }}
            size="xs"
            leftSection={<IconFileText size={16} aria-hidden />}
          >
            {t('domain.extraction')}
          </LinkButton>
          <LinkButton
            to="/news/domains/$domain/selectors"
            params={{ domain }}
            size="xs"
            leftSection={<IconCode size={16} aria-hidden />}
          >
            {t('domain.selectors')}
          </LinkButton>
        </>
      }
    >
      {d.status === 'blocked' && d.not_before && (
        <Alert color="red" role="status">
          {t('domain.blocked')} <Time at={d.not_before} />
        </Alert>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <Run key={d.domain} domain={d} />
            <Figures domain={d} />
            <Problems problems={d.recent_errors ?? []} />
            <WithoutArticle pages={d.without_article ?? []} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <Newest domain={d} />
            <Settings domain={d} />
            <Hubs hubs={d.hubs ?? []} />
          </Stack>
        </Grid.Col>
      </Grid>
    </NewsFrame>
  )
}

function Problems({ problems }: { problems: Schemas['DomainFetchError'][] }) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('domain.problems')}>
      <Title order={2} size="h4">
        {t('domain.problems')}
      </Title>
      {problems.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('domain.noProblems')}
        </Text>
      )}
      {problems.map((p) => (
        <div key={p.url}>
          <Text size="sm" className="dl-text">
            {p.url}
          </Text>
          <Text size="xs" c="dimmed" className="dl-text">
            {noteText(p.reason)}
            {p.at && (
              <>
                {' · '}
                <Ago at={p.at} />
              </>
            )}
          </Text>
        </div>
      ))}
    </Stack>
  )
}

/** Pages that were fetched and contain no article, with the reason. */
function WithoutArticle({ pages }: { pages: Schemas['PageWithoutArticle'][] }) {
  const { t } = useTranslation()
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('noArticle.title')}>
      <Title order={2} size="h4">
        {t('noArticle.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t(pages.length === 0 ? 'noArticle.none' : 'noArticle.text')}
      </Text>
      {pages.map((p) => (
        <div key={p.url} data-without-article={p.reason}>
          <Text size="sm" className="dl-text">
            {p.url}
          </Text>
          <Text size="xs" c="dimmed" className="dl-text">
            <NoArticle reason={p.reason} detail={p.detail} />
            {' · '}
            <Ago at={p.fetched_at} />
          </Text>
        </div>
      ))}
    </Stack>
  )
}

/** Subscriptions to the WebSub hubs of its feeds; nothing if there are none. */
function Hubs({ hubs }: { hubs: Schemas['HubSubscription'][] }) {
  const { t } = useTranslation()
  if (hubs.length === 0) return null
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('hubs.title')}>
      <Title order={2} size="h4">
        {t('hubs.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('hubs.text')}
      </Text>
      {hubs.map((h) => (
        <div key={h.feed} data-hub={h.status}>
          <Text size="sm" className="dl-text">
            {h.feed}
          </Text>
          <Text size="xs" c="dimmed" className="dl-text">
            {t(`hubs.statuses.${h.status}`)}
            {h.delivered_at && (
              <>
                {' · '}
                {t('hubs.delivered')} <Ago at={h.delivered_at} />
              </>
            )}
            {h.problem && (
              <>
                {' · '}
                {t(`hubs.problems.${h.problem}`)}
                {h.detail && <span lang="en">: {h.detail}</span>}
              </>
            )}
          </Text>
        </div>
      ))}
    </Stack>
  )
}

/** The newest articles. */
function Newest({ domain: d }: { domain: Domain }) {
  const { t } = useTranslation()
  const list = useQuery({
    queryKey: ['domain', d.domain, 'newest'],
    refetchInterval: crawlPace,
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/articles', { params: { query: { domain: d.domain, limit: 8 } } }))).articles,
  })
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('domain.newest')}>
      <Title order={2} size="h4">
        {t('domain.newest')}
      </Title>
      {list.error && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('domain.noArticles')}
        </Text>
      )}
      {list.data?.map((a) => (
        <div key={a.id} data-article={a.id}>
          <LinkAnchor to="/news/articles/$id" params={{ id: a.id }} size="sm" className="dl-text" data-user-text>
            {a.title}
          </LinkAnchor>
          <Text size="xs" c="dimmed">
            <Time at={a.dated_at} look="short" />
          </Text>
        </div>
      ))}
      <LinkAnchor to="/news" search={{ domain: [d.domain] }} size="sm">
        {t('domain.allArticles')}
      </LinkAnchor>
    </Stack>
  )
}

function Settings({ domain: d }: { domain: Domain }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const may = useAtLeast('editor')
  const owner = useAtLeast('owner')
  const [asking, ask] = useDisclosure()
  const params = { path: { domain: d.domain } }
  const render = useAct({
    send: (on: boolean) => unwrap(api.PATCH('/api/v1/domains/{domain}', { params, body: { render: on } })),
    show: (on) => showData<Domain>(client, ['domain', d.domain], (was) => ({ ...was, render: on })),
    done: (_, on) => t(on ? 'act.on' : 'act.off', { name: t('domain.render') }),
    undo: (_, on) => !on,
    failed: () => t('act.refused', { name: d.domain }),
    accepted: (now) => client.setQueryData(['domain', d.domain], now),
  })
  const empty = useAct({
    send: () => unwrap(api.DELETE('/api/v1/domains/{domain}/frontier', { params })),
    accepted: () => {
      ask.close()
    },
    settled: () => void client.invalidateQueries({ queryKey: ['domain', d.domain] }),
    done: ({ deleted }) => t('domain.emptied', { count: deleted }),
  })
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('domain.settings')}>
      <Title order={2} size="h4">
        {t('domain.settings')}
      </Title>
      <Switch
        label={t('domain.render')}
        description={t('domain.renderText')}
        disabled={!may}
        checked={d.render}
        onChange={(e) => render.mutate(e.currentTarget.checked)}
      />
      {d.ignored_parameters.length > 0 && (
        <Text size="sm" className="dl-text">
          {t('domain.ignored')} {d.ignored_parameters.join(', ')}
        </Text>
      )}
      <Anchor href={`https://${d.domain}/`} target="_blank" rel="noreferrer nofollow" size="sm">
        {t('domain.visit')}
      </Anchor>
      {owner && (
        <Button
          size="xs"
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={ask.open}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('domain.empty')}
        </Button>
      )}
      <Modal
        opened={asking}
        onClose={ask.close}
        title={t('domain.empty')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text size="sm">{t('domain.emptyText')}</Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={ask.close}>
              {t('cancel')}
            </Button>
            <Button color="red" loading={empty.isPending} onClick={() => empty.mutate()}>
              {t('domain.emptyDo')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Stack>
  )
}
