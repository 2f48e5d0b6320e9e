import { Badge, Group, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { splitRunning } from '../../lib/plot'
import { type Change, changeOf, formatChange, formatMetric, type Metric } from './numbers'

/** The change of a number. Green is better, red is worse. */
export function ChangeBadge({ change, lower }: { change: Change; lower?: boolean }) {
  const { t, i18n } = useTranslation()
  const text = formatChange(change, i18n.language)
  const isBetter = lower ? change.value < 0 : change.value > 0
  return (
    <Badge
      variant="light"
      radius="sm"
      tt="none"
      className="dl-numbers"
      color={/[1-9]/.test(text) ? (isBetter ? 'green' : 'red') : 'gray'}
    >
      {change.isPoints ? t('report.points', { value: text }) : text}
    </Badge>
  )
}

interface Props {
  metric: Metric
  label: string
  /** How the number is defined. */
  hint?: string
  value: number | undefined
  compared: number | undefined
  series: (number | undefined)[]
  /** How many buckets of the series are over. */
  complete: number
  isSelected: boolean
  select: () => void
}

/** A total with its change and trend. The selected one is in the chart. */
export function TotalCard({ metric, label, hint, value, compared, series, complete, isSelected, select }: Props) {
  const { t, i18n } = useTranslation()
  const change = changeOf(value, compared, metric.kind)
  return (
    <UnstyledButton
      className="dl-card dl-choice dl-total"
      p="sm"
      aria-pressed={isSelected}
      onClick={select}
      data-total={metric.key}
    >
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Group gap={6} align="center">
        <Text size="xl" fw={700} className="dl-numbers" data-value>
          {formatMetric(value, metric.kind, i18n.language)}
        </Text>
        {change && <ChangeBadge change={change} lower={metric.lower} />}
      </Group>
      {compared !== undefined && (
        <VisuallyHidden>
          {t('report.before', { value: formatMetric(compared, metric.kind, i18n.language) })}
        </VisuallyHidden>
      )}
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
      <Sparkline values={series} complete={complete} />
    </UnstyledButton>
  )
}

const width = 120
const height = 28

/** Fewer values have no trend: their line would be a lone dash. */
const fewestValues = 3

function Sparkline({ values, complete }: { values: (number | undefined)[]; complete: number }) {
  const known = values.filter((v) => v !== undefined)
  if (known.length < fewestValues) return null
  const max = Math.max(...known, 0)
  const { solid, running } = splitRunning(values, complete)
  const points = (part: (number | null)[]) =>
    part
      .flatMap((v, i) => {
        const x = (i / Math.max(1, values.length - 1)) * width
        return v === null ? [] : [`${x.toFixed(1)},${(height - 1 - (max > 0 ? v / max : 0) * (height - 2)).toFixed(1)}`]
      })
      .join(' ')
  const line = {
    fill: 'none',
    stroke: 'var(--mantine-color-indigo-5)',
    strokeWidth: 1.5,
    vectorEffect: 'non-scaling-stroke',
  } as const
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      height={height}
      preserveAspectRatio="none"
      aria-hidden
      style={{ display: 'block' }}
      data-sparkline
    >
      <polyline points={points(solid)} {...line} />
      <polyline points={points(running)} {...line} strokeDasharray="3 3" />
    </svg>
  )
}
