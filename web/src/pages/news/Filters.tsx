import { Button, Checkbox, Fieldset, Select, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { type Asked, type Field, fields, isChosen, type NewsSearch, type Span, spans } from '../../lib/news'
import { DayField } from '../../components/DayField'
import { countsQuery } from '../../lib/newsQueries'

interface Props {
  search: NewsSearch
  query: Asked
  counts?: Schemas['SearchResponse']
  change: (update: Partial<NewsSearch>) => void
}

const few = 6

/** The facets of the results with their counts. */
export function Filters({ search, query, counts, change }: Props) {
  const { t } = useTranslation()
  // A selected facet also shows its other values.
  const chosen = fields.filter((f) => search[f])
  const wider = useQueries({ queries: chosen.map((f) => countsQuery({ ...query, [f]: undefined })) })
  const answers = new Map(chosen.map((f, i) => [f, wider[i]?.data]))
  return (
    <Stack gap="sm" component="section" aria-label={t('search.filters')}>
      <Times search={search} change={change} />
      {fields.map((f) => (
        <Choice
          key={f}
          field={f}
          chosen={search[f] ?? []}
          facets={(answers.get(f) ?? counts)?.facets}
          change={(values) => change({ [f]: values.length > 0 ? values : undefined })}
        />
      ))}
      {isChosen(search) && (
        <Button
          variant="default"
          size="xs"
          onClick={() =>
            change({
              ...Object.fromEntries(fields.map((f) => [f, undefined])),
              since: undefined,
              from: undefined,
              to: undefined,
            })
          }
        >
          {t('search.clear')}
        </Button>
      )}
    </Stack>
  )
}

function Choice({
  field,
  chosen,
  facets,
  change,
}: {
  field: Field
  chosen: string[]
  facets?: Schemas['SearchFacet'][]
  change: (values: string[]) => void
}) {
  const { t, i18n } = useTranslation()
  const [all, setAll] = useState(false)
  const counted = facets?.find((f) => f.field === field)?.values ?? []
  const values = [
    ...counted,
    ...chosen.filter((v) => !counted.some((c) => c.value === v)).map((value) => ({ value, count: undefined })),
  ].filter((v) => v.value !== '')
  if (values.length === 0) return null
  const shown = all ? values : values.filter((v, i) => i < few || chosen.includes(v.value))
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <Fieldset legend={t(`search.fields.${field}`)} p="xs" data-facet={field}>
      <Stack gap={8}>
        {shown.map(({ value, count }) => (
          <Checkbox
            key={value}
            size="sm"
            checked={chosen.includes(value)}
            onChange={(e) => change(e.currentTarget.checked ? [...chosen, value] : chosen.filter((v) => v !== value))}
            label={
              <span className="dl-text">
                {field === 'language' ? languageName(value, i18n.language) : value}
                {count !== undefined && (
                  <Text span size="xs" c="dimmed" className="dl-numbers">
                    {` ${number.format(count)}`}
                  </Text>
                )}
              </span>
            }
          />
        ))}
        {values.length > few && (
          <Button
            size="compact-xs"
            variant="subtle"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => setAll(!all)}
            aria-expanded={all}
          >
            {t(all ? 'search.fewer' : 'search.all')}
          </Button>
        )}
      </Stack>
    </Fieldset>
  )
}

function languageName(code: string, shownIn: string): string {
  try {
    return new Intl.DisplayNames(shownIn, { type: 'language' }).of(code) ?? code
  } catch {
    return code // a site may declare any language
  }
}

function Times({ search, change }: { search: NewsSearch; change: Props['change'] }) {
  const { t } = useTranslation()
  const [days, setDays] = useState(false)
  const own = days || search.from !== undefined || search.to !== undefined
  return (
    <Stack gap={6}>
      <Select
        label={t('search.time')}
        size="sm"
        allowDeselect={false}
        data={['any', ...Object.keys(spans), 'days'].map((value) => ({
          value,
          label: t(`search.times.${value as 'any' | Span | 'days'}`),
        }))}
        value={own ? 'days' : (search.since ?? 'any')}
        onChange={(v) => {
          setDays(v === 'days')
          change({
            since: v !== null && Object.hasOwn(spans, v) ? (v as Span) : undefined,
            from: undefined,
            to: undefined,
          })
        }}
      />
      {own && (
        <Stack gap="xs">
          {(['from', 'to'] as const).map((end) => (
            <DayField
              key={end}
              label={t(`search.${end}`)}
              w={150}
              value={search[end] ?? ''}
              onChange={(day) => change({ since: undefined, [end]: day || undefined })}
            />
          ))}
        </Stack>
      )}
    </Stack>
  )
}
