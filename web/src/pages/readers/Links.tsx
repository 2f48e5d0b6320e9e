import { Grid, Stack, Text, Title } from '@mantine/core'
import { IconLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkButton } from '../../components/links'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { useStream } from '../../lib/useStream'
import { type Counted, PageNumbers } from './PageNumbers'
import { PageRow } from './PageRow'

/** As many pages as one stream follows. */
const followed = 20

/** The newest short links of posts, most clicked first. Rankings count views; posts have clicks. */
export function Links({ own, page, choose }: { own: Counted; page?: string; choose: (page: string) => void }) {
  const { t } = useTranslation()
  const may = useAtLeast('author')
  const [live, setLive] = useState<Record<string, Schemas['PageStats']>>({})
  const list = useQuery({
    queryKey: ['links'],
    refetchInterval: 15_000,
    queryFn: async () => (await unwrap(api.GET('/api/v1/links', { params: { query: { limit: 50 } } }))).links,
  })
  const names = (list.data ?? []).slice(0, followed).map((l) => `link/${l.code}`)
  const state = useStream(
    names.length > 0
      ? `/api/v1/sites/${own.id}/live?${names.map((n) => `page=${encodeURIComponent(n)}`).join('&')}`
      : undefined,
    (data) =>
      setLive((was) => ({
        ...was,
        ...Object.fromEntries((data as Schemas['PageStatsList']).pages.map((p) => [p.page, p])),
      })),
  )
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <WaitingRows />
  if (list.data.length === 0)
    return (
      <Empty
        icon={IconLink}
        title={t('readers.noLinks')}
        text={t('readers.noLinksText')}
        guide="how-to/use-short-links"
      >
        {may && <LinkButton to="/compose">{t('nav.newPost')}</LinkButton>}
      </Empty>
    )
  const rows = list.data
    .map((l) => ({ page: `link/${l.code}`, clicks: Math.max(l.clicks, live[`link/${l.code}`]?.clicks ?? 0) }))
    .sort((a, b) => b.clicks - a.clicks)
  const chosen = page ?? rows[0]?.page
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack
          gap="xs"
          className="dl-card"
          p="md"
          component="section"
          aria-label={t('readers.links')}
          data-stream={state}
        >
          <Title order={2} size="h4">
            {t('readers.links')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('readers.linksText')}
          </Text>
          {rows.map((r) => (
            <PageRow key={r.page} own page={r.page} number={r.clicks} active={r.page === chosen} choose={choose} />
          ))}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        {chosen && <PageNumbers key={chosen} site={own} page={chosen} clicks={live[chosen]?.clicks} />}
      </Grid.Col>
    </Grid>
  )
}
