import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconWorldWww } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { DomainControls, DomainStatus, Legend } from '../../components/domain'
import { LinkAnchor, LinkButton } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, Waiting } from '../../components/states'
import { crawlPace } from '../../lib/newsQueries'
import { relative } from '../../lib/time'

/** The crawled sites with their state. */
export function DomainsPage() {
  const { t } = useTranslation()
  return (
    <NewsFrame title={t('news.domains')} lead={t('news.domainsLead')}>
      <Domains />
    </NewsFrame>
  )
}

function Domains() {
  const { t, i18n } = useTranslation()
  const list = useInfiniteQuery({
    queryKey: ['domains'],
    refetchInterval: crawlPace,
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/domains', { params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } } }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
  const domains = list.data?.pages.flatMap((p) => p.domains) ?? []
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <Waiting />
  if (domains.length === 0)
    return (
      <Empty icon={IconWorldWww} title={t('news.noDomains')} text={t('news.noDomainsText')} guide="how-to/add-a-source">
        <LinkButton to="/news/seeds">{t('search.toSeeds')}</LinkButton>
      </Empty>
    )
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <Stack gap="sm">
      {domains.map((d) => {
        const asked = Math.max(1, d.fetched)
        return (
          <Stack
            key={d.domain}
            gap={6}
            className="dl-card"
            p="md"
            component="article"
            aria-label={d.domain}
            data-domain={d.domain}
          >
            <Group justify="space-between" gap="xs">
              <Group gap="xs">
                <LinkAnchor to="/news/domains/$domain" params={{ domain: d.domain }} fw={600}>
                  {d.domain}
                </LinkAnchor>
                <DomainStatus status={d.status} />
              </Group>
              <DomainControls domain={d} />
            </Group>
            <Legend
              of={[
                [t('domain.fetched'), d.fetched],
                [t('domain.stored'), d.stored, 'green'],
                [t('domain.unchanged'), d.unchanged, 'gray'],
                [t('domain.failed'), d.failed, 'red'],
              ]}
            />
            <Text size="sm" c="dimmed">
              {t('domain.responseTime', { ms: number.format(Math.round(d.response_ms)) })}
              {d.last_crawl && (
                <>
                  {` · ${t('news.lastCrawl')} `}
                  <Ago at={d.last_crawl} />
                </>
              )}
            </Text>
            <Progress.Root size="sm" aria-hidden>
              <Progress.Section value={(d.stored / asked) * 100} color="green" />
              <Progress.Section value={(d.unchanged / asked) * 100} color="gray" />
              <Progress.Section value={(d.failed / asked) * 100} color="red" />
            </Progress.Root>
            {d.status === 'blocked' && d.not_before && (
              <Alert color="red" p="xs">
                <Text size="sm">{t('news.blocked', { when: relative(d.not_before, i18n.language) })}</Text>
              </Alert>
            )}
          </Stack>
        )
      })}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}
