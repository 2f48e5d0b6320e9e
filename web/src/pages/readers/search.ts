export const presets = [
  'today',
  'yesterday',
  '7days',
  '28days',
  'month',
  'lastmonth',
  '6months',
  '12months',
  'all',
] as const
export type Preset = (typeof presets)[number]
export const comparisons = ['previous', 'year'] as const
export type Comparison = (typeof comparisons)[number]

/** Tabs besides the overview. */
export const tabs = ['authors', 'sections', 'goals', 'posts', 'live'] as const
export type Tab = (typeof tabs)[number]

/** The search parameters of the Readers page. The range is a preset, or `from` and `to`. */
export interface ReadersSearch {
  site?: string
  tab?: Tab
  page?: string
  range?: Preset
  from?: string
  to?: string
  compare?: Comparison
  /** Dimensions and values, as in the API: `channel:search`. Values of one dimension are alternatives. */
  filter?: string[]
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Returns a date such as 2026-11-23; undefined for anything else, such as 2026-02-30. */
function date(value: unknown): string | undefined {
  const day = text(value)
  if (!day || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined
  const at = new Date(`${day}T00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day) ? day : undefined
}

/** Validates the search parameters of the Readers page. */
export function readersSearch(search: Record<string, unknown>): ReadersSearch {
  const [from, to] = [date(search.from), date(search.to)]
  const isCustom = from !== undefined && to !== undefined && from <= to
  const page = text(search.page)
  const filters = [search.filter].flat().filter((f): f is string => typeof f === 'string' && !!parseFilter(f))
  const filter = [...new Set(filters)].slice(0, maxFilters)
  return {
    site: text(search.site),
    // Only the live view shows a single page.
    tab: page ? 'live' : tabs.find((tab) => tab === search.tab),
    page,
    range: isCustom ? undefined : presets.find((p) => p === search.range),
    from: isCustom ? from : undefined,
    to: isCustom ? to : undefined,
    compare: comparisons.find((c) => c === search.compare),
    filter: filter.length > 0 ? filter : undefined,
  }
}

export const defaultPreset: Preset = '28days'

export interface Range {
  from: string
  to: string
}

function addDays(day: string, n: number): string {
  const at = new Date(`${day}T00:00Z`)
  at.setUTCDate(at.getUTCDate() + n)
  return at.toISOString().slice(0, 10)
}

/** The first day of the month that is so many months before that of a day. */
function monthsBefore(day: string, months: number): string {
  const month = new Date(`${day.slice(0, 8)}01T00:00Z`)
  month.setUTCMonth(month.getUTCMonth() - months)
  return month.toISOString().slice(0, 10)
}

/** The days of the longest report. */
const longestRange = 1100

/** Returns the first and the last day of a preset. Months and years end today. */
export function presetRange(preset: Preset, today: string): Range {
  switch (preset) {
    case 'today':
      return { from: today, to: today }
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) }
    case '7days':
      return { from: addDays(today, -6), to: today }
    case '28days':
      return { from: addDays(today, -27), to: today }
    case 'month':
      return { from: `${today.slice(0, 8)}01`, to: today }
    case 'lastmonth':
      return { from: monthsBefore(today, 1), to: addDays(monthsBefore(today, 0), -1) }
    case '6months':
      return { from: monthsBefore(today, 5), to: today }
    case '12months':
      return { from: monthsBefore(today, 11), to: today }
    case 'all':
      return { from: addDays(today, 1 - longestRange), to: today }
  }
}

/** Returns the days of the URL. */
export function rangeOf(search: ReadersSearch, today: string): Range {
  if (search.from && search.to) return { from: search.from, to: search.to }
  return presetRange(search.range ?? defaultPreset, today)
}

/** Returns the parameters of the range and the comparison. */
export const period = ({ range, from, to, compare }: ReadersSearch) => ({ range, from, to, compare })

export const filterNames = [
  'page',
  'channel',
  'source',
  'campaign',
  'country',
  'device',
  'browser',
  'os',
  'author',
  'section',
  'tag',
  'event',
] as const
export type FilterName = (typeof filterNames)[number]
export interface Filter {
  name: FilterName
  value: string
}

/** How many values the API accepts. */
export const maxFilters = 10

export const textOf = ({ name, value }: Filter): string => `${name}:${value}`

/** Adds a filter, or removes it if it is set. A filter that cannot be combined with the others replaces them. */
export function toggleFilter(filters: string[], filter: Filter, combinable: readonly string[]): string[] | undefined {
  const text = textOf(filter)
  const left = filters.filter((f) => f !== text)
  const next = left.length < filters.length ? left : combinable.includes(filter.name) ? [...left, text] : [text]
  return next.length > 0 ? next : undefined
}

/** Parses `name:value`; the value may contain colons. */
export function parseFilter(filter: string): Filter | undefined {
  const at = filter.indexOf(':')
  const name = filterNames.find((n) => n === filter.slice(0, at))
  const value = filter.slice(at + 1)
  return name && value ? { name, value } : undefined
}
