import 'uplot/dist/uPlot.min.css'
import { Table, Text, useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import UPlot from 'uplot'
import { splitRunning, wholeSteps } from '../../lib/plot'
import { format } from '../../lib/time'
import { formatMetric, type Metric, startOf } from './numbers'

export interface Line {
  start: string
  value: number | undefined
}

interface Props {
  label: string
  metric: Metric
  what: string
  grain: 'hours' | 'days' | 'months'
  zone: string
  line: Line[]
  /** How many of them are over; the next one is running, and drawn dashed. */
  complete: number
  compared?: Line[]
  asTable: boolean
}

const looks: Record<Props['grain'], Intl.DateTimeFormatOptions> = {
  hours: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  days: { day: 'numeric', month: 'short' },
  months: { month: 'short', year: 'numeric' },
}

/** A number over time with the compared period as a lighter line, or both as a table. */
export default function ReportChart({ label, metric, what, grain, zone, line, complete, compared, asTable }: Props) {
  const { t, i18n } = useTranslation()
  const language = i18n.language
  // Days and months come without a zone.
  const time = (at: string | undefined, extra?: Intl.DateTimeFormatOptions) =>
    at === undefined
      ? ''
      : format(startOf(at), language, grain === 'hours' ? zone : 'UTC', { ...looks[grain], ...extra })
  const long: Intl.DateTimeFormatOptions =
    grain === 'hours'
      ? { day: 'numeric', month: 'short' }
      : grain === 'days'
        ? { weekday: 'short', year: 'numeric' }
        : {}
  const number = (value: number | undefined) => formatMetric(value, metric.kind, language)
  if (asTable)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
      <section style={{ maxHeight: 360, overflow: 'auto' }} tabIndex={0} aria-label={label}>
        <Table>
          <caption className="dl-hidden">{label}</caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('report.time')}</Table.Th>
              <Table.Th ta="right">{what}</Table.Th>
              {compared && <Table.Th ta="right">{t('report.compared')}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="dl-numbers">
            {line.map((b, i) => (
              <Table.Tr key={b.start}>
                <Table.Td>{time(b.start, long)}</Table.Td>
                <Table.Td ta="right">{number(b.value)}</Table.Td>
                {compared && <Table.Td ta="right">{number(compared[i]?.value)}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    )
  return (
    <Plot
      label={label}
      metric={metric}
      grain={grain}
      line={line}
      complete={complete}
      compared={compared}
      time={(at) => time(at)}
      longTime={(at) => time(at, long)}
    />
  )
}

function Plot({
  label,
  metric,
  grain,
  line,
  complete,
  compared,
  time,
  longTime,
}: Pick<Props, 'label' | 'metric' | 'grain' | 'line' | 'complete' | 'compared'> & {
  time: (at: string | undefined) => string
  longTime: (at: string | undefined) => string
}) {
  const { t, i18n } = useTranslation()
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  const [pointed, setPointed] = useState<number | null>(null)
  const language = i18n.language
  const number = (value: number | undefined) => formatMetric(value, metric.kind, language)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot reads its colors from the scheme's styles; the formats follow the language
  useEffect(() => {
    const box = place.current
    if (!box) return
    const style = getComputedStyle(box)
    const color = (name: string) => style.getPropertyValue(name)
    const axis = {
      stroke: color('--mantine-color-dimmed'),
      grid: { stroke: color('--dl-line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    }
    const compact =
      metric.kind === 'rate'
        ? new Intl.NumberFormat(language, { style: 'percent' })
        : new Intl.NumberFormat(language, { notation: 'compact' })
    const least = metric.kind === 'rate' ? 0.05 : metric.kind === 'decimal' ? 1 : 4
    const strong = color('--mantine-color-indigo-5')
    // A day that is not over is compared with the same part of a day: its point would look like a fall.
    const isCut = (i: number) => grain !== 'hours' && complete > 1 && i >= complete
    const { solid, running } = splitRunning(
      line.map((b) => b.value),
      complete,
    )
    const plot = new UPlot(
      {
        width: box.clientWidth,
        height: 240,
        cursor: { y: false, drag: { x: false, y: false } },
        legend: { show: false },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(least, (max ?? 0) * 1.1)] } },
        axes: [
          {
            ...axis,
            size: 28,
            space: 70,
            incrs: [1, 2, 3, 6, 7, 12, 14, 24, 28],
            values: (_, ticks) => ticks.map((i) => time(line[i]?.start)),
          },
          {
            ...axis,
            size: 52,
            incrs: metric.kind === 'count' ? wholeSteps : undefined,
            values: (_, ticks) => ticks.map((n) => compact.format(n)),
          },
        ],
        series: [
          {},
          { stroke: color('--mantine-color-gray-5'), width: 1.5, dash: [5, 4], points: { show: false } },
          { stroke: strong, width: 2, fill: `${strong}1a`, points: { show: complete === 1 } },
          { stroke: strong, width: 2, fill: `${strong}0d`, dash: [4, 4], points: { show: complete === 0 } },
        ],
        hooks: { setCursor: [(u) => setPointed(u.cursor.idx ?? null)] },
      },
      [line.map((_, i) => i), line.map((_, i) => (isCut(i) ? null : (compared?.[i]?.value ?? null))), solid, running],
      box,
    )
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 240 }))
    watch.observe(box)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
  }, [line, complete, compared, metric, grain, language, scheme])
  const top = line.reduce<Line | undefined>((best, b) => ((b.value ?? -1) > (best?.value ?? 0) ? b : best), undefined)
  const bucket = pointed === null ? undefined : line[pointed]
  const before = pointed === null ? undefined : compared?.[pointed]
  return (
    <figure style={{ margin: 0 }}>
      <Text size="sm" c="dimmed" component="figcaption" mih="1.5em">
        {bucket
          ? `${longTime(bucket.start)}${pointed !== null && pointed >= complete ? ` (${t('report.soFar')})` : ''}: ${number(bucket.value)}${before ? ` (${longTime(before.start)}: ${number(before.value)})` : ''}`
          : top && t('report.highest', { value: number(top.value), time: longTime(top.start) })}
      </Text>
      <div
        ref={place}
        role="img"
        aria-label={
          top ? `${label}. ${t('report.highest', { value: number(top.value), time: longTime(top.start) })}` : label
        }
        data-running={complete < line.length ? line[complete]?.start : undefined}
        style={{ minHeight: 240, overflow: 'hidden' }}
      />
    </figure>
  )
}
