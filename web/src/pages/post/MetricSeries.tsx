import { Group, Select, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { Time } from '../../components/Time'
import { seriesColors as colors, metricLabel, metricNames } from '../../lib/metrics'
import { useMe } from '../../lib/session'
import type { Series } from './SeriesPlot'
import { loaded } from '../../lib/loading'

const SeriesPlot = lazy(() => loaded(() => import('./SeriesPlot')))

/** How a metric of a post has grown on its accounts. Absent before the second reading. */
export function MetricSeries({ parts }: { parts: Schemas['PostMetricsPart'][] }) {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const names = useMemo(() => {
    const counts = new Map<string, number>()
    for (const part of parts) {
      for (const name of new Set(part.readings.map((r) => r.metric))) {
        counts.set(name, Math.max(counts.get(name) ?? 0, part.readings.filter((r) => r.metric === name).length))
      }
    }
    return metricNames(parts.map((p) => p.latest)).filter((name) => (counts.get(name) ?? 0) > 1)
  }, [parts])
  const [chosen, setChosen] = useState<string>()
  const metric = chosen && names.includes(chosen) ? chosen : names[0]
  const series = useMemo<Series[]>(
    () =>
      parts
        .map((p) => ({
          name: `${p.account} (${p.network})${p.part > 0 ? ` · ${p.part + 1}` : ''}`,
          points: p.readings.filter((r) => r.metric === metric).map((r) => ({ at: Date.parse(r.at), value: r.value })),
        }))
        .filter((s) => s.points.length > 0),
    [parts, metric],
  )
  if (!metric) return null
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <Stack gap="xs" data-series={metric}>
      <Select
        label={t('postMetrics.series')}
        allowDeselect={false}
        maw={220}
        data={names.map((name) => ({ value: name, label: metricLabel(t, name) }))}
        value={metric}
        onChange={(v) => v && setChosen(v)}
      />
      <figure style={{ margin: 0 }} aria-label={`${t('postMetrics.series')}: ${metricLabel(t, metric)}`}>
        <Suspense>
          <SeriesPlot series={series} zone={me.workspace.time_zone} />
        </Suspense>
        <VisuallyHidden>
          <Table>
            <caption>{metricLabel(t, metric)}</caption>
            <tbody>
              {series.flatMap((s) =>
                s.points.map((p) => (
                  <tr key={`${s.name} ${p.at}`}>
                    <td>{s.name}</td>
                    <td>
                      <Time at={new Date(p.at).toISOString()} />
                    </td>
                    <td>{number.format(p.value)}</td>
                  </tr>
                )),
              )}
            </tbody>
          </Table>
        </VisuallyHidden>
      </figure>
      <Group gap="md" aria-hidden>
        {series.map((s, i) => (
          <Group key={s.name} gap={6}>
            <span style={{ width: 12, height: 3, background: `var(--mantine-color-${colors[i % colors.length]})` }} />
            <Text size="xs">{s.name}</Text>
          </Group>
        ))}
      </Group>
    </Stack>
  )
}
