import type { Schemas } from '../../api/client'
import { toWall } from '../../lib/time'
import type { FilterName } from './search'

export type TableName = Schemas['ReportTableName']
type Totals = Schemas['ReportTotals']

/** A total of the report. `lower` is true where less is better, `isEngagement` where only views with heartbeats are counted. */
export interface Metric {
  key:
    | 'events'
    | 'views'
    | 'visitors'
    | 'visits'
    | 'views_per_visit'
    | 'bounce_rate'
    | 'engaged_bounce_rate'
    | 'recirculation_rate'
    | 'median_seconds'
  kind: 'count' | 'decimal' | 'rate' | 'duration'
  lower?: boolean
  isEngagement?: boolean
}

export const metrics: Metric[] = [
  { key: 'views', kind: 'count' },
  { key: 'visitors', kind: 'count' },
  { key: 'visits', kind: 'count' },
  { key: 'views_per_visit', kind: 'decimal' },
  { key: 'median_seconds', kind: 'duration', isEngagement: true },
  { key: 'bounce_rate', kind: 'rate', lower: true },
  { key: 'engaged_bounce_rate', kind: 'rate', lower: true, isEngagement: true },
  { key: 'recirculation_rate', kind: 'rate' },
]

const events: Metric = { key: 'events', kind: 'count' }

/** Returns the metrics to show: with a filter, those that are counted; those of engagement if views sent heartbeats. */
export const shownMetrics = (totals: Totals, isFiltered: boolean) =>
  isFiltered
    ? [...metrics, events].filter((m) => totals[m.key] !== undefined)
    : metrics.filter((m) => !m.isEngagement || (totals.engaged_views ?? 0) > 0)

/** Formats a number of the metric; a dash if it is unknown. */
export function formatMetric(value: number | undefined, kind: Metric['kind'], language: string): string {
  if (value === undefined) return '–'
  if (kind === 'duration')
    return `${Math.floor(Math.round(value) / 60)}:${String(Math.round(value) % 60).padStart(2, '0')}`
  if (kind === 'rate')
    return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value)
  return new Intl.NumberFormat(language, { maximumFractionDigits: kind === 'decimal' ? 2 : 0 }).format(value)
}

/** The change of a number: relative for counts, in percentage points for rates. */
export interface Change {
  value: number
  isPoints: boolean
}

/** Returns undefined if a number is unknown, or the change has no base. */
export function changeOf(
  now: number | undefined,
  before: number | undefined,
  kind: Metric['kind'] = 'count',
): Change | undefined {
  if (now === undefined || before === undefined) return undefined
  if (kind === 'rate') return { value: (now - before) * 100, isPoints: true }
  if (before === 0) return now === 0 ? { value: 0, isPoints: false } : undefined
  return { value: (now - before) / before, isPoints: false }
}

/** Formats a change with its sign: "+12%"; points are formatted without a unit. */
export function formatChange(change: Change, language: string): string {
  const options: Intl.NumberFormatOptions = {
    signDisplay: 'exceptZero',
    maximumFractionDigits: change.isPoints || Math.abs(change.value) < 0.1 ? 1 : 0,
  }
  return new Intl.NumberFormat(language, change.isPoints ? options : { ...options, style: 'percent' }).format(
    change.value,
  )
}

/** The filter of a table row. */
export const filterOf: Partial<Record<TableName, FilterName>> = {
  pages: 'page',
  entry_pages: 'page',
  channels: 'channel',
  sources: 'source',
  campaigns: 'campaign',
  countries: 'country',
  devices: 'device',
  browsers: 'browser',
  systems: 'os',
  authors: 'author',
  sections: 'section',
  tags: 'tag',
  events: 'event',
}

/** The table of a filter's values. */
export const tableOf = (filter: FilterName): TableName =>
  (Object.keys(filterOf) as TableName[]).find((by) => filterOf[by] === filter) ?? 'pages'

/** Tables that share a card. */
export const groups: TableName[][] = [
  ['pages', 'entry_pages'],
  ['channels', 'sources', 'campaigns', 'referrers'],
  ['countries'],
  ['devices', 'browsers', 'systems'],
  ['properties'],
]

type Reason = Schemas['ReportGap']['code']

/** Groups the tables that a report lacks by reason. */
export function byReason(gaps: Schemas['ReportGap'][]): [reason: Reason, tables: TableName[]][] {
  const found = new Map<Reason, TableName[]>()
  for (const gap of gaps) found.set(gap.code, [...(found.get(gap.code) ?? []), gap.by])
  return [...found]
}

/** Returns the instant at which a bucket starts. Days and months have no zone: they are UTC. */
export const startOf = (bucket: string) => Date.parse(bucket)

/** Returns the number of buckets that are over. A line through the running one and later ones would look like a drop. */
export function completeBuckets(
  starts: string[],
  grain: 'hours' | 'days' | 'months',
  zone: string,
  now = Date.now(),
): number {
  const today = toWall(now, zone).slice(0, grain === 'months' ? 7 : 10)
  const running = starts.findIndex((start) =>
    grain === 'hours' ? Date.parse(start) + 3_600_000 > now : start.slice(0, today.length) >= today,
  )
  return running < 0 ? starts.length : running
}

/** Returns the parameters of a report for one table as CSV. */
export function csvQuery(
  range: { from: string; to: string },
  by: TableName,
  compare?: string,
  filter: string[] = [],
): string {
  const query = new URLSearchParams({ from: range.from, to: range.to, by, format: 'csv', limit: '1000' })
  if (compare) query.set('compare', compare)
  for (const one of filter) query.append('filter', one)
  return query.toString()
}
