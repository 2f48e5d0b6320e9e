import { Grid, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { IconFileText } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { NoArticle } from '../../components/NoArticle'
import { Empty, Failed, Waiting } from '../../components/states'
import { readingQuery } from '../../lib/newsQueries'
import { Blocks } from './Blocks'
import { Marks } from './Marks'

const route = getRouteApi('/news/domains/$domain/extraction')

/** What of the newest pages of a site is part of the text of their articles, and what editors marked. */
export function ExtractionPage() {
  const { domain } = route.useParams()
  const { article } = route.useSearch()
  const { t } = useTranslation()
  const reading = useQuery(readingQuery(domain))
  const pages = useQuery({
    queryKey: ['extracted', domain],
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/domains/{domain}/extraction/pages', { params: { path: { domain } } }))).pages,
  })
  const failed = reading.error ?? pages.error
  if (failed) return <Failed error={failed} retry={() => void Promise.all([reading.refetch(), pages.refetch()])} />
  if (!reading.data || !pages.data) return <Waiting />
  const chosen = article ?? pages.data[0]?.article_id
  return (
    <NewsFrame
      title={t('extraction.title', { domain })}
      lead={
        <LinkAnchor to="/news/domains/$domain" params={{ domain }} size="sm">
          {t('selectors.back', { domain })}
        </LinkAnchor>
      }
    >
      {chosen === undefined ? (
        <Empty icon={IconFileText} title={t('extraction.none')} text={t('extraction.noneText')} />
      ) : (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <Stack>
              <Pages domain={domain} pages={pages.data} chosen={chosen} />
              <Marks domain={domain} marks={reading.data.marks} />
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 8 }}>
            <Blocks key={chosen} domain={domain} article={chosen} />
          </Grid.Col>
        </Grid>
      )}
    </NewsFrame>
  )
}

function Pages({ domain, pages, chosen }: { domain: string; pages: Schemas['ExtractedPage'][]; chosen: string }) {
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('extraction.pages')}>
      <Title order={2} size="h4">
        {t('extraction.pages')}
      </Title>
      <Stack
        gap={0}
        mah={420}
        style={{ overflowY: 'auto' }}
        tabIndex={0}
        role="group"
        aria-label={t('extraction.pages')}
      >
        {pages.map((p) => (
          <UnstyledButton
            key={p.article_id}
            px="xs"
            py={6}
            bg={p.article_id === chosen ? 'var(--mantine-color-default-hover)' : undefined}
            aria-current={p.article_id === chosen || undefined}
            data-page={p.article_id}
            onClick={() => void navigate({ params: { domain }, search: { article: p.article_id }, replace: true })}
          >
            <Text size="sm" data-user-text>
              {p.title}
            </Text>
            <Text size="xs" c="dimmed" component="div">
              {p.error ? (
                <NoArticle reason={p.error_reason} detail={p.error} />
              ) : (
                t('extraction.counts', {
                  text: p.blocks_in_text,
                  others: Object.values(p.dropped).reduce((sum, n) => sum + n, 0),
                })
              )}
            </Text>
          </UnstyledButton>
        ))}
      </Stack>
      <Text size="xs" c="dimmed">
        {t('extraction.pagesText')}
      </Text>
    </Stack>
  )
}
