import { Button, Collapse, Grid, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconBookmarkPlus, IconFilter, IconNews, IconSearch, IconSeedling } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { LinkButton } from '../../components/links'
import { NewsFrame } from '../../components/NewsFrame'
import { Empty, Failed, Waiting } from '../../components/states'
import { asked, fields, isChosen, isPlain, type NewsSearch } from '../../lib/news'
import { countsQuery } from '../../lib/newsQueries'
import { useAtLeast, useMe } from '../../lib/session'
import { Filters } from './Filters'
import { Results } from './Results'
import { SaveSearch } from './SaveSearch'
import { useArticles } from './useArticles'

const route = getRouteApi('/news')

const pause = 250 // ms after typing, before the search

/** All articles, newest first, or search results. */
export function NewsPage() {
  const { t } = useTranslation()
  const me = useMe()
  const search = route.useSearch()
  const navigate = useNavigate()
  const may = useAtLeast('author')
  const wide = useMediaQuery('(min-width: 62em)') ?? true
  const [opened, { toggle }] = useDisclosure()
  const [saving, save] = useDisclosure()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a time range starts when it was selected
  const now = useMemo(() => Date.now(), [search.since])
  const query = asked(search, me.workspace.time_zone, now)
  const listed = isPlain(search)
  const { found, rows, answer } = useArticles(query, listed)
  const counts = useQuery(countsQuery(query))
  const change = (update: Partial<NewsSearch>) =>
    void navigate({ to: '/news', search: (was) => ({ ...was, ...update }), replace: true, resetScroll: false })
  const words = search.q?.trim() !== undefined && search.q.trim() !== ''
  const chosen =
    fields.reduce((n, f) => n + (search[f]?.length ?? 0), 0) + (search.since || search.from || search.to ? 1 : 0)
  return (
    <NewsFrame
      title={t('news.title')}
      lead={t('news.lead')}
      actions={
        may &&
        (words || isChosen(search)) && (
          <Button variant="default" leftSection={<IconBookmarkPlus size={18} aria-hidden />} onClick={save.open}>
            {t('search.save')}
          </Button>
        )
      }
    >
      <Words value={search.q ?? ''} change={(q) => change({ q: q || undefined })} />
      <Group gap="sm">
        {words && (
          <SegmentedControl
            size="xs"
            aria-label={t('search.sort')}
            value={search.sort ?? 'relevance'}
            onChange={(v) => change({ sort: v === 'time' ? 'time' : undefined })}
            data={(['relevance', 'time'] as const).map((value) => ({ value, label: t(`search.sorts.${value}`) }))}
          />
        )}
        {words && counts.data?.semantic_available && search.sort !== 'time' && (
          <SegmentedControl
            size="xs"
            aria-label={t('search.mode')}
            value={search.mode ?? 'hybrid'}
            onChange={(v) => change({ mode: v === 'hybrid' ? undefined : (v as NewsSearch['mode']) })}
            data={(['hybrid', 'keyword', 'semantic'] as const).map((value) => ({
              value,
              label: t(`search.modes.${value}`),
            }))}
          />
        )}
        {!wide && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconFilter size={16} aria-hidden />}
            onClick={toggle}
            aria-expanded={opened}
          >
            {t('search.filters')}
            {chosen > 0 && ` (${chosen})`}
          </Button>
        )}
        <Said answer={answer ?? counts.data} least={rows.length} stale={found.isPlaceholderData} />
      </Group>
      {!wide && (
        <Collapse expanded={opened} keepMounted={false}>
          <Filters search={search} query={query} counts={counts.data} change={change} />
        </Collapse>
      )}
      <Grid gap="lg">
        {wide && (
          <Grid.Col span={3}>
            <Filters search={search} query={query} counts={counts.data} change={change} />
          </Grid.Col>
        )}
        <Grid.Col span={wide ? 9 : 12}>
          {found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} />
          ) : !found.data ? (
            <Waiting />
          ) : rows.length === 0 ? (
            <Nothing search={search} />
          ) : (
            <Stack gap="sm">
              <Results rows={rows} found={found} />
              {!listed && !found.hasNextPage && rows.length >= 1000 && <Text c="dimmed">{t('search.narrow')}</Text>}
            </Stack>
          )}
        </Grid.Col>
      </Grid>
      {saving && <SaveSearch search={search} close={save.close} />}
    </NewsFrame>
  )
}

/** The search field; it searches when typing stops. */
function Words({ value, change }: { value: string; change: (q: string) => void }) {
  const { t } = useTranslation()
  const [text, setText] = useState(value)
  const [seen, setSeen] = useState(value)
  const [sent, setSent] = useState(value)
  const later = useDebouncedCallback((q: string) => {
    setSent(q)
    change(q)
  }, pause)
  if (value !== seen) {
    setSeen(value)
    // The URL was changed otherwise: by a link, or the back button.
    if (value !== sent) setText(value)
  }
  return (
    <TextInput
      type="search"
      size="md"
      label={t('search.words')}
      description={t('search.wordsText')}
      leftSection={<IconSearch size={20} aria-hidden />}
      maxLength={500}
      value={text}
      onChange={(e) => {
        setText(e.currentTarget.value)
        later(e.currentTarget.value)
      }}
    />
  )
}

/** The number of results, and how they were found. */
function Said({ answer, least, stale }: { answer?: Schemas['SearchResponse']; least: number; stale: boolean }) {
  const { t, i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language)
  // The index may be a moment behind the list.
  const total = Math.max(answer?.total ?? 0, least)
  const corrected = Object.entries(answer?.corrected ?? {}).map(([word, others]) =>
    t('search.corrected', { word, others: others.join(', ') }),
  )
  return (
    <Text size="sm" c="dimmed" role="status" data-stale={stale || undefined} className="dl-text">
      {answer &&
        [
          t(answer.estimated ? 'search.about' : 'search.total', { count: total, number: number.format(total) }),
          ...corrected,
          ...(answer.relaxed ? [t('search.relaxed')] : []),
        ].join(' · ')}
    </Text>
  )
}

function Nothing({ search }: { search: NewsSearch }) {
  const { t } = useTranslation()
  if (search.q?.trim() || isChosen(search))
    return (
      <Empty icon={IconSearch} title={t('search.nothing')} text={t('search.nothingText')}>
        <LinkButton to="/news" variant="default">
          {t('search.all')}
        </LinkButton>
      </Empty>
    )
  return (
    <Empty icon={IconNews} title={t('search.none')} text={t('search.noneText')} guide="how-to/add-a-source">
      <LinkButton to="/news/seeds" leftSection={<IconSeedling size={18} aria-hidden />}>
        {t('search.toSeeds')}
      </LinkButton>
    </Empty>
  )
}
