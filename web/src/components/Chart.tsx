import 'uplot/dist/uPlot.min.css'
import { Table, useComputedColorScheme, VisuallyHidden } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import UPlot from 'uplot'
import { splitRunning, wholeSteps } from '../lib/plot'
import { format, formatTime } from '../lib/time'

interface Bucket {
  start: string
  count: number
}

/** Numbers over time as bars, with a table for screen readers. */
export default function Chart({
  label,
  what,
  buckets,
  unit,
  zone,
}: {
  label: string
  what?: string
  buckets: Bucket[]
  unit: 'hour' | 'day'
  zone: string
}) {
  const { i18n, t } = useTranslation()
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  const language = i18n.language
  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot reads its colors from the scheme's styles
  useEffect(() => {
    const box = place.current
    if (!box) return
    const style = getComputedStyle(box)
    const ink = style.getPropertyValue('--mantine-color-dimmed')
    const color = style.getPropertyValue('--mantine-color-indigo-5')
    const grid = style.getPropertyValue('--dl-line')
    const look =
      unit === 'hour' ? ({ hour: '2-digit', hourCycle: 'h23' } as const) : ({ day: 'numeric', month: 'short' } as const)
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '12px system-ui' }
    const bars = UPlot.paths.bars?.({ size: [0.7, 40] })
    // The last bucket is running.
    const complete = buckets.length - 1
    const { solid, running } = splitRunning(
      buckets.map((b) => b.count),
      complete,
    )
    const plot = new UPlot(
      {
        width: box.clientWidth,
        height: 220,
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
        axes: [
          { ...axis, size: 28, values: (_, ticks) => ticks.map((s) => format(s * 1000, language, zone, look)) },
          {
            ...axis,
            size: 48,
            incrs: wholeSteps,
            values: (_, ticks) => ticks.map((n) => new Intl.NumberFormat(language, { notation: 'compact' }).format(n)),
          },
        ],
        series: [
          {},
          { stroke: color, fill: color, paths: bars, points: { show: false } },
          { stroke: color, fill: `${color}26`, dash: [4, 3], paths: bars, points: { show: false } },
        ],
      },
      [buckets.map((b) => Date.parse(b.start) / 1000), solid, running.map((n, i) => (i < complete ? null : n))],
      box,
    )
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 220 }))
    watch.observe(box)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
  }, [buckets, unit, zone, language, scheme])
  return (
    <figure style={{ margin: 0 }} aria-label={label}>
      <div ref={place} aria-hidden style={{ minHeight: 220, overflow: 'hidden' }} />
      <VisuallyHidden>
        <Table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th>{t('readers.time')}</th>
              <th>{what ?? t('readers.views')}</th>
            </tr>
          </thead>
          <tbody>
            {buckets.map((b) => (
              <tr key={b.start}>
                <td>{formatTime(b.start, language, zone, 'short')}</td>
                <td>{b.count}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      </VisuallyHidden>
    </figure>
  )
}
