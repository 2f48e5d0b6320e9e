import { Button, Grid, Menu, SegmentedControl, Select, Stack, Tabs, Text, Title } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import {
  IconChevronDown,
  IconCode,
  IconDatabaseImport,
  IconEye,
  IconMail,
  IconPlus,
  IconSettings,
  IconShare,
  IconWorldWww,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Page } from '../../components/Page'
import { Empty, Failed, WaitingCards } from '../../components/states'
import { sitesQuery } from '../../lib/queries'
import { useAtLeast, useMe } from '../../lib/session'
import { useStream } from '../../lib/useStream'
import { Alerts } from './Alerts'
import { Emails } from './Emails'
import { Imports } from './Imports'
import { NewSite } from './NewSite'
import { Links } from './Links'
import { Goals } from './Goals'
import { Newsroom } from './Newsroom'
import { Overview } from './Overview'
import { type Counted, PageNumbers } from './PageNumbers'
import { PageRow } from './PageRow'
import { PostReport } from './PostReport'
import { period, tabs } from './search'
import { Share } from './Share'
import { Snippets } from './Snippets'

const route = getRouteApi('/readers')

/** Reports on the readers of sites, and what they read at the moment. */
export function ReadersPage() {
  const { t } = useTranslation()
  const sites = useQuery(sitesQuery)
  const search = route.useSearch()
  const navigate = useNavigate()
  const may = useAtLeast('editor')
  const [adding, add] = useDisclosure()
  const [showing, show] = useDisclosure()
  const [sharing, share] = useDisclosure()
  const [mailing, mail] = useDisclosure()
  const [importing, imports] = useDisclosure()
  const me = useMe()
  const narrow = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const site = sites.data?.find((s) => s.id === search.site) ?? sites.data?.[0]
  // Posts and short links are counted under the workspace's own id, in UTC.
  const posts: Counted = { id: me.workspace.id, time_zone: 'UTC', own: true }
  const counted: Counted | undefined = search.site === posts.id ? posts : site && { ...site, own: false }
  const tools = [
    { icon: IconCode, label: t('readers.snippets'), open: show.open },
    ...(may
      ? [
          { icon: IconMail, label: t('emails.open'), open: mail.open },
          { icon: IconShare, label: t('share.open'), open: share.open },
          { icon: IconDatabaseImport, label: t('imports.open'), open: imports.open },
        ]
      : []),
  ]
  const choose = (page: string) =>
    void navigate({ to: '/readers', search: { site: counted?.id, tab: 'live', page }, resetScroll: false })
  const go = (id: string) => void navigate({ to: '/readers', search: { site: id } })
  return (
    <Page
      title={t('readers.title')}
      lead={t('readers.lead')}
      actions={
        counted && (
          <>
            {site && !counted.own && narrow && may && (
              <Menu position="bottom-start">
                <Menu.Target>
                  <Button
                    variant="default"
                    leftSection={<IconSettings size={18} aria-hidden />}
                    rightSection={<IconChevronDown size={16} aria-hidden />}
                  >
                    {t('readers.manage')}
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  {tools.map(({ icon: Icon, label, open }) => (
                    <Menu.Item key={label} leftSection={<Icon size={16} aria-hidden />} onClick={open}>
                      {label}
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
            )}
            {site &&
              !counted.own &&
              !(narrow && may) &&
              tools.map(({ icon: Icon, label, open }) => (
                <Button key={label} variant="default" leftSection={<Icon size={18} aria-hidden />} onClick={open}>
                  {label}
                </Button>
              ))}
            {may && (
              <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={add.open}>
                {t('readers.newSite')}
              </Button>
            )}
          </>
        )
      }
    >
      {sites.error ? (
        <Failed error={sites.error} retry={() => void sites.refetch()} />
      ) : !sites.data ? (
        <WaitingCards cards={4} cols={{ base: 1, md: 2 }} height={220} />
      ) : !counted ? (
        <Empty icon={IconWorldWww} title={t('readers.none')} text={t('readers.noneText')} guide="how-to/add-a-site">
          {may && (
            <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={add.open}>
              {t('readers.newSite')}
            </Button>
          )}
          <Button variant="default" onClick={() => go(posts.id)}>
            {t('readers.posts')}
          </Button>
        </Empty>
      ) : (
        <Stack>
          <Select
            label={t('readers.site')}
            allowDeselect={false}
            w={{ base: '100%', xs: 280 }}
            data={[
              ...sites.data.map((s) => ({ value: s.id, label: s.name })),
              { value: posts.id, label: t('readers.posts') },
            ]}
            value={counted.id}
            onChange={(id) => id && go(id)}
          />
          {counted.own ? (
            <Stack>
              <PostReport />
              <Links own={counted} page={search.page} choose={choose} />
            </Stack>
          ) : (
            site && (
              <Tabs
                key={site.id}
                value={search.tab ?? 'overview'}
                onChange={(tab) =>
                  void navigate({
                    to: '/readers',
                    search: {
                      site: site.id,
                      tab: tabs.find((x) => x === tab),
                      ...(tab === 'live' ? {} : period(search)),
                    },
                  })
                }
                keepMounted={false}
              >
                <Tabs.List mb="md">
                  <Tabs.Tab value="overview">{t('report.overview')}</Tabs.Tab>
                  <Tabs.Tab value="authors">{t('report.tables.authors')}</Tabs.Tab>
                  <Tabs.Tab value="sections">{t('report.tables.sections')}</Tabs.Tab>
                  <Tabs.Tab value="goals">{t('report.tables.goals')}</Tabs.Tab>
                  <Tabs.Tab value="posts">{t('report.tables.posts')}</Tabs.Tab>
                  <Tabs.Tab value="live">{t('report.live')}</Tabs.Tab>
                </Tabs.List>
                <Tabs.Panel value="overview">
                  <Stack>
                    <Alerts site={site} />
                    <Overview site={site} search={search} />
                  </Stack>
                </Tabs.Panel>
                <Tabs.Panel value="authors">
                  <Newsroom site={site} search={search} tables={['authors']} />
                </Tabs.Panel>
                <Tabs.Panel value="sections">
                  <Newsroom site={site} search={search} tables={['sections', 'tags', 'ages']} />
                </Tabs.Panel>
                <Tabs.Panel value="goals">
                  <Goals site={site} search={search} />
                </Tabs.Panel>
                <Tabs.Panel value="posts">
                  <Newsroom site={site} search={search} tables={['posts', 'post_accounts', 'post_networks']} />
                </Tabs.Panel>
                <Tabs.Panel value="live">
                  <Numbers site={counted} page={search.page} choose={choose} />
                </Tabs.Panel>
              </Tabs>
            )
          )}
        </Stack>
      )}
      {adding && <NewSite close={add.close} />}
      {mailing && site && <Emails site={site} close={mail.close} />}
      {importing && site && <Imports site={site} close={imports.close} />}
      {sharing && site && <Share site={site} filter={search.filter} close={share.close} />}
      {showing && site && <Snippets site={site} close={show.close} />}
    </Page>
  )
}

function Numbers({ site, page, choose }: { site: Counted; page?: string; choose: (page: string) => void }) {
  const { t } = useTranslation()
  const [window, setWindow] = useState<'now' | 'hour' | 'day' | 'rising'>('now')
  const [live, setLive] = useState<Schemas['PageStats'][]>([])
  const state = useStream(`/api/v1/sites/${site.id}/live`, (data) => setLive((data as Schemas['PageStatsList']).pages))
  const trending = useQuery({
    queryKey: ['trending', site.id, window],
    // The ranking is at most 30 s old; reading now comes from the stream.
    refetchInterval: 10_000,
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/trending', {
          params: { query: { site: site.id, limit: 20, ...(window === 'rising' ? { rising: true } : { window }) } },
        }),
      ),
  })
  const ranked = trending.data?.pages ?? []
  const chosen = page ?? live[0]?.page ?? ranked[0]?.page
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <Stack
            gap="xs"
            className="dl-card"
            p="md"
            component="section"
            aria-label={t('readers.live')}
            data-stream={state}
          >
            <Title order={2} size="h4">
              {t('readers.live')}
            </Title>
            <Text size="sm" c="dimmed">
              {t('readers.liveText')}
            </Text>
            {live.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('readers.quiet')}
              </Text>
            ) : (
              live.map((p) => (
                <PageRow
                  key={p.page}
                  own={false}
                  page={p.page}
                  number={p.recent ?? 0}
                  active={p.page === chosen}
                  choose={choose}
                />
              ))
            )}
          </Stack>
          <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('readers.trending')}>
            <Title order={2} size="h4">
              {t('readers.trending')}
            </Title>
            <SegmentedControl
              size="xs"
              aria-label={t('readers.window')}
              value={window}
              onChange={(v) => setWindow(v as typeof window)}
              data={(['now', 'hour', 'day', 'rising'] as const).map((value) => ({
                value,
                label: t(`readers.windows.${value}`),
              }))}
            />
            {trending.error ? (
              <Failed error={trending.error} retry={() => void trending.refetch()} />
            ) : ranked.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('readers.unranked')}
              </Text>
            ) : (
              ranked.map((p) => (
                <PageRow
                  key={p.page}
                  own={false}
                  page={p.page}
                  number={p.score}
                  times={window === 'rising'}
                  active={p.page === chosen}
                  choose={choose}
                />
              ))
            )}
          </Stack>
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        {chosen ? (
          <PageNumbers site={site} page={chosen} views={live.find((p) => p.page === chosen)?.views} />
        ) : (
          <Empty
            icon={IconEye}
            title={t('readers.noViews')}
            text={t('readers.noViewsText')}
            guide="how-to/add-a-site"
          />
        )}
      </Grid.Col>
    </Grid>
  )
}
