import { Button, Group, Progress as Bar, Stack, Text } from '@mantine/core'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { measure, percent, rateOf, type Sample, secondsLeft } from '../lib/progress'

interface Props {
  label: string
  done: number
  /** undefined while it is not known. */
  total?: number | undefined
  /** When `done` was read, in milliseconds. */
  at: number
  unit?: 'count' | 'bytes'
  /** undefined: it cannot be canceled. */
  cancel?: (() => void) | undefined
  canceling?: boolean
}

const sizes = [
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
] as const

const times = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** How far a job is: percentage, rate and time left, or only count and rate while its total is not known. */
export function Progress({ label, done, total, at, unit = 'count', cancel, canceling = false }: Props) {
  const { t, i18n } = useTranslation()
  const samples = useRef<Sample[]>([])
  samples.current = measure(samples.current, { at, done })
  const rate = rateOf(samples.current)
  const left = secondsLeft(rate, done, total)
  const format = (n: number, options?: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(i18n.language, options).format(n)
  const amount = (n: number) => {
    if (unit === 'count') return format(n, { maximumFractionDigits: n < 10 ? 1 : 0 })
    const [name, size] = sizes.find(([, s]) => n >= s) ?? ['kilobyte', 1e3]
    return format(n / size, { style: 'unit', unit: name, maximumFractionDigits: 1 })
  }
  const time = (seconds: number) => {
    const [name, size] = times.find(([, s]) => seconds >= s * 2) ?? ['second', 1]
    return format(Math.ceil(seconds / size), { style: 'unit', unit: name, unitDisplay: 'long' })
  }
  const share = total ? percent(done, total) : undefined
  const text = [
    total && share !== undefined
      ? t('progress.of', { done: amount(done), total: amount(total), share: format(share / 100, { style: 'percent' }) })
      : amount(done),
    rate !== undefined && t('progress.rate', { rate: amount(rate) }),
    left !== undefined && t('progress.left', { time: time(left) }),
  ]
    .filter(Boolean)
    .join(' · ')
  return (
    <Stack gap={4}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" fw={600} truncate>
          {label}
        </Text>
        {cancel && (
          <Button variant="default" size="compact-sm" style={{ flexShrink: 0 }} loading={canceling} onClick={cancel}>
            {t('cancel')}
          </Button>
        )}
      </Group>
      <Bar.Root
        size="lg"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share}
        aria-valuetext={text}
      >
        <Bar.Section
          value={share ?? 100}
          withAria={false}
          striped={share === undefined}
          animated={share === undefined}
        />
      </Bar.Root>
      <Text size="sm" c="dimmed" className="dl-numbers">
        {text}
      </Text>
    </Stack>
  )
}
