import { Grid, Stack } from '@mantine/core'
import { IconCode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { LinkAnchor } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, Waiting } from '../../components/states'
import { articleQuery, readingQuery } from '../../lib/newsQueries'
import { useAtLeast } from '../../lib/session'
import { blank, type Config } from './config'
import { Editor } from './Editor'
import { Health } from './Health'
import { History } from './History'

const route = getRouteApi('/news/domains/$domain/selectors')

/** The selectors of a site: their results, health and history. */
export function SelectorsPage() {
  const { domain } = route.useParams()
  const { article } = route.useSearch()
  const { t } = useTranslation()
  const reading = useQuery(readingQuery(domain))
  const versions = useQuery({
    queryKey: ['selectors', domain],
    queryFn: async () =>
      (
        await unwrap(
          api.GET('/api/v1/domains/{domain}/selectors', { params: { path: { domain }, query: { limit: 100 } } }),
        )
      ).selectors,
  })
  const pages = useQuery({
    queryKey: ['domain', domain, 'newest'],
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/articles', { params: { query: { domain, limit: 100 } } }))).articles,
  })
  const asked = useQuery({ ...articleQuery(article ?? ''), enabled: article !== undefined })
  const failed = reading.error ?? versions.error ?? pages.error
  if (failed)
    return (
      <Failed error={failed} retry={() => void Promise.all([reading.refetch(), versions.refetch(), pages.refetch()])} />
    )
  if (!reading.data || !versions.data || !pages.data || (article !== undefined && asked.isPending)) return <Waiting />
  const others = pages.data.filter((a) => a.id !== asked.data?.id)
  const choices = (asked.data ? [asked.data, ...others] : others).map((a) => ({ value: a.id, label: a.title }))
  return (
    <NewsFrame
      title={t('selectors.title', { domain })}
      lead={
        <LinkAnchor to="/news/domains/$domain" params={{ domain }} size="sm">
          {t('selectors.back', { domain })}
        </LinkAnchor>
      }
    >
      <Desk key={domain} domain={domain} reading={reading.data} versions={versions.data} pages={choices} />
    </NewsFrame>
  )
}

interface DeskProps {
  domain: string
  reading: Schemas['Extraction']
  versions: Schemas['Selectors'][]
  pages: { value: string; label: string }[]
}

function Desk({ domain, reading, versions, pages }: DeskProps) {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  // The active version may change during an edit; the edit stays.
  const [edited, setEdited] = useState<{ config: Config; from: number; no: number }>(() => {
    const active = versions.find((v) => v.state === 'active')
    return { config: active?.config ?? blank(), from: active?.version ?? 0, no: 0 }
  })
  const [page, setPage] = useState(pages[0]?.value ?? '')
  const load = (v: Schemas['Selectors']) => setEdited(({ no }) => ({ config: v.config, from: v.version, no: no + 1 }))
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 8 }} order={{ base: 2, lg: 1 }}>
        {pages.length === 0 ? (
          <Empty icon={IconCode} title={t('selectors.noPages')} text={t('selectors.noPagesText')} />
        ) : may ? (
          <Editor
            key={edited.no}
            domain={domain}
            config={edited.config}
            from={edited.from}
            pages={pages}
            page={page || (pages[0]?.value ?? '')}
            setPage={setPage}
            saved={load}
          />
        ) : (
          <Empty icon={IconCode} title={t('state.forbidden')} text={t('selectors.forbiddenText')} />
        )}
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }} order={{ base: 1, lg: 2 }}>
        <Stack>
          <Health reading={reading} />
          <History domain={domain} versions={versions} load={load} />
        </Stack>
      </Grid.Col>
    </Grid>
  )
}
