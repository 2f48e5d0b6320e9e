import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import UPlot from 'uplot'
import { seriesColors as colors } from '../../lib/metrics'
import { wholeSteps } from '../../lib/plot'
import { format } from '../../lib/time'

export interface Series {
  name: string
  points: { at: number; value: number }[] // in ms
}

/** Numbers over time, a line for each series. */
export default function SeriesPlot({ series, zone }: { series: Series[]; zone: string }) {
  const { i18n } = useTranslation()
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  const language = i18n.language
  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot reads its colors from the scheme's styles
  useEffect(() => {
    const box = place.current
    if (!box) return
    const style = getComputedStyle(box)
    const axis = {
      stroke: style.getPropertyValue('--mantine-color-dimmed'),
      grid: { stroke: style.getPropertyValue('--dl-line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    }
    const times = [...new Set(series.flatMap((s) => s.points.map((p) => p.at / 1000)))].sort((a, b) => a - b)
    const columns = series.map((s) => {
      const values = new Map(s.points.map((p) => [p.at / 1000, p.value]))
      return times.map((at) => values.get(at) ?? null)
    })
    const days = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * 86_400
    const look = days
      ? ({ day: 'numeric', month: 'short' } as const)
      : ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const)
    const plot = new UPlot(
      {
        width: box.clientWidth,
        height: 200,
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
          ...series.map((_, i) => ({
            stroke: style.getPropertyValue(`--mantine-color-${colors[i % colors.length]}`),
            width: 2,
            spanGaps: true,
            points: { show: true, size: 5 },
          })),
        ],
      },
      [times, ...columns],
      box,
    )
    const watch = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 200 }))
    watch.observe(box)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
  }, [series, zone, language, scheme])
  return <div ref={place} aria-hidden style={{ minHeight: 200, overflow: 'hidden' }} />
}
