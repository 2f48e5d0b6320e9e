import { Badge, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { formatBytes } from '../../i18n/message'
import type { Schemas } from '../../api/client'

type Domain = Schemas['Domain']

/** The figures of a site's crawl: responses, articles, and discovery times. */
export function Figures({ domain: d }: { domain: Domain }) {
  const { t, i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 0 })
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 })
  const part = (n: number, all: number) =>
    n > 0 && all > 0 ? `${number.format(n)} (${share.format(n / all)})` : number.format(n)
  const minutes = (seconds: number) =>
    t('domain.minutes', {
      minutes: new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format(seconds / 60),
    })
  const { weekly: news } = d
  return (
    <Stack gap="md" className="dl-card" p="md" component="section" aria-label={t('domain.figures')}>
      <Numbers
        title={t('domain.figures')}
        of={[
          [t('domain.fetched'), number.format(d.fetched)],
          [t('domain.today'), number.format(d.fetched_today)],
          [t('domain.stored'), number.format(d.stored)],
          [t('domain.unchanged'), part(d.unchanged, d.fetched)],
          [t('domain.failed'), part(d.failed, d.fetched)],
          [t('domain.timeouts'), part(d.timeouts, d.fetched)],
          [t('domain.excluded'), number.format(d.excluded)],
          [t('domain.size'), formatBytes(d.bytes, i18n.language)],
          [t('domain.answer'), `${number.format(d.response_ms)} ms`],
          [t('domain.delay'), d.crawl_delay_ms > 0 ? `${number.format(d.crawl_delay_ms)} ms` : '–'],
          [t('domain.score'), share.format(d.score)],
        ]}
      />
      {(d.responses ?? []).length > 0 && (
        <Group gap="xs" aria-label={t('domain.responses')} role="group">
          {d.responses?.map((a) => (
            <Badge
              key={a.status}
              variant="light"
              color={a.status < 400 ? 'gray' : 'red'}
              tt="none"
              data-answer={a.status}
            >
              {t('domain.answered', { status: a.status, count: a.urls, urls: number.format(a.urls) })}
            </Badge>
          ))}
        </Group>
      )}
      {news && (
        <Numbers
          title={t('domain.news')}
          of={[
            [t('domain.articles'), number.format(news.articles)],
            [t('domain.duplicates'), part(news.duplicates, news.articles)],
            ...(news.measured > 0
              ? ([
                  [t('domain.found50'), minutes(news.discovery_p50_seconds)],
                  [t('domain.found95'), minutes(news.discovery_p95_seconds)],
                  [t('domain.late'), part(news.late, news.measured)],
                ] satisfies [string, string][])
              : []),
          ]}
        />
      )}
    </Stack>
  )
}

function Numbers({ title, of }: { title: string; of: [label: string, value: string][] }) {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" component="dl" m={0}>
        {of.map(([label, value]) => (
          <div key={label}>
            <Text size="xs" c="dimmed" component="dt">
              {label}
            </Text>
            <Text fw={600} className="dl-numbers" component="dd" m={0}>
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
