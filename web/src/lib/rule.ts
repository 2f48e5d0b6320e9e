import type { TFunction } from 'i18next'
import { format, toInstant, type Wall, weekdayName } from './time'

/** A recurrence rule as in the API: the part of RFC 5545, 3.3.10, that internal/publishing/recurrence supports. */
export interface Rule {
  freq: 'DAILY' | 'WEEKLY' | 'MONTHLY'
  interval: number
  /** Weekdays; of a monthly rule the nth, or if negative the nth from the month's end. */
  byDay: { nth: number; day: Day }[]
  /** Of a monthly rule; negative: from the month's end. */
  byMonthDay: number[]
  count?: number
  /** A date; the whole day is included. */
  until?: string
}

export const days = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
export type Day = (typeof days)[number]

export const defaultRule: Rule = { freq: 'WEEKLY', interval: 1, byDay: [], byMonthDay: [] }

const dateOf = (wall: Wall) => new Date(`${wall.slice(0, 10)}T00:00:00Z`)
const text = (date: Date) => date.toISOString().slice(0, 10)
/** Monday is 0. */
const weekdayOf = (date: Date) => (date.getUTCDay() + 6) % 7
const dayMs = 86_400_000

export const weekday = (wall: Wall): Day => days[weekdayOf(dateOf(wall))] ?? 'MO'

/** The number of a date's weekday in its month: 1 for the first, up to 5. */
export const nthOf = (wall: Wall) => Math.ceil(dateOf(wall).getUTCDate() / 7)

export function formatRule(r: Rule): string {
  const parts = [`FREQ=${r.freq}`]
  if (r.interval > 1) parts.push(`INTERVAL=${r.interval}`)
  if (r.byDay.length > 0) parts.push(`BYDAY=${r.byDay.map(({ nth, day }) => `${nth || ''}${day}`).join(',')}`)
  if (r.byMonthDay.length > 0) parts.push(`BYMONTHDAY=${r.byMonthDay.join(',')}`)
  if (r.count) parts.push(`COUNT=${r.count}`)
  else if (r.until) parts.push(`UNTIL=${r.until.replaceAll('-', '')}`)
  return parts.join(';')
}

/** Parses a stored rule; undefined if it has unsupported parts. */
export function parseRule(rule: string): Rule | undefined {
  const r: Rule = { ...defaultRule, byDay: [], byMonthDay: [] }
  for (const part of rule.replace(/^RRULE:/, '').split(';')) {
    const [name, value = ''] = part.split('=')
    if (name === 'FREQ' && (value === 'DAILY' || value === 'WEEKLY' || value === 'MONTHLY')) r.freq = value
    else if (name === 'INTERVAL') r.interval = Number(value)
    else if (name === 'COUNT') r.count = Number(value)
    else if (name === 'UNTIL') r.until = value.replace(/^(\d{4})(\d\d)(\d\d).*$/, '$1-$2-$3')
    else if (name === 'BYMONTHDAY') r.byMonthDay = value.split(',').map(Number)
    else if (name === 'BYDAY') {
      const found = value
        .split(',')
        .map((one) => ({ nth: Number(one.slice(0, -2)), day: days.find((d) => d === one.slice(-2)) }))
      r.byDay = found.flatMap(({ nth, day }) => (day ? [{ nth, day }] : []))
    } else return undefined
  }
  return r
}

/** Reports whether a single date matches the rule. */
function fits(r: Rule, start: Date, date: Date): boolean {
  const day = days[weekdayOf(date)]
  switch (r.freq) {
    case 'DAILY':
      return ((date.getTime() - start.getTime()) / dayMs) % r.interval === 0
    case 'WEEKLY': {
      const monday = (d: Date) => d.getTime() - weekdayOf(d) * dayMs
      if (((monday(date) - monday(start)) / dayMs / 7) % r.interval !== 0) return false
      return r.byDay.length > 0 ? r.byDay.some((d) => d.day === day) : weekdayOf(date) === weekdayOf(start)
    }
    case 'MONTHLY': {
      const months = (d: Date) => d.getUTCFullYear() * 12 + d.getUTCMonth()
      if ((months(date) - months(start)) % r.interval !== 0) return false
      const at = date.getUTCDate()
      const long = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
      if (r.byDay.length > 0)
        return r.byDay.some(
          (d) => d.day === day && (d.nth > 0 ? Math.ceil(at / 7) === d.nth : Math.ceil((long - at + 1) / 7) === -d.nth),
        )
      if (r.byMonthDay.length > 0) return r.byMonthDay.some((d) => at === (d > 0 ? d : long + 1 + d))
      return at === start.getUTCDate()
    }
  }
}

/** The end of the search, whatever the rule. */
const farthest = 366 * 6

/** The local times of a rule in order: those before `to`, with a maximum number from `from` on. */
export function occurrences(
  r: Rule,
  starts: Wall,
  { from = starts, to, most }: { from?: Wall; to?: Wall; most: number },
): Wall[] {
  const out: Wall[] = []
  const start = dateOf(starts)
  const clock = starts.slice(10, 16).padEnd(6, '0')
  for (let i = 0, seen = 0; i < farthest && out.length < most; i++) {
    const date = new Date(start.getTime() + i * dayMs)
    const wall = text(date) + clock
    if ((to !== undefined && wall >= to.slice(0, 16)) || (r.until !== undefined && text(date) > r.until)) break
    if (!fits(r, start, date)) continue
    if (wall >= from.slice(0, 16)) out.push(wall)
    if (++seen === r.count) break
  }
  return out
}

/** The upcoming occurrences as instants. */
export function upcoming(r: Rule, starts: Wall, zone: string, most: number, now = Date.now()): string[] {
  const yesterday = new Date(now - 2 * dayMs).toISOString().slice(0, 16)
  return occurrences(r, starts, { from: yesterday > starts ? yesterday : starts, most: most + 4 })
    .map((wall) => toInstant(wall, zone).toISOString())
    .filter((at) => Date.parse(at) > now)
    .slice(0, most)
}

const ordinals: Record<number, 'first' | 'second' | 'third' | 'fourth' | 'fifth' | 'last'> = {
  1: 'first',
  2: 'second',
  3: 'third',
  4: 'fourth',
  5: 'fifth',
  [-1]: 'last',
}

/** The name of a weekday: 2024 began on a Monday. */
export function dayName(day: Day, language: string, look: 'long' | 'short' = 'long'): string {
  return weekdayName(days.indexOf(day), language, look)
}

/** A rule in words. Rules without words are shown as written. */
export function describeRule(rule: string, starts: Wall, t: TFunction, language: string): string {
  const r = parseRule(rule)
  if (!r) return rule
  const list = (all: string[]) => new Intl.ListFormat(language).format(all)
  // Vietnamese has one form of plural, and a word of its own for every day.
  const said = [
    r.interval === 1
      ? t(`repeat.every.${r.freq}_one` as 'repeat.every.DAILY')
      : t(`repeat.every.${r.freq}`, { count: r.interval }),
  ]
  if (r.freq === 'WEEKLY')
    said.push(
      t('repeat.on', {
        days: list(
          (r.byDay.length > 0 ? r.byDay.map((d) => d.day) : [weekday(starts)]).map((d) => dayName(d, language)),
        ),
      }),
    )
  if (r.freq === 'MONTHLY') {
    if (r.byDay.some((d) => !ordinals[d.nth])) return rule
    const nths = r.byDay.map(({ nth, day }) =>
      t('repeat.nth', { nth: t(`repeat.ordinal.${ordinals[nth] ?? 'first'}`), day: dayName(day, language) }),
    )
    const dates = (r.byMonthDay.length > 0 ? r.byMonthDay : [Number(starts.slice(8, 10))]).map((d) =>
      d === -1 ? t('repeat.lastDay') : t('repeat.date', { date: d }),
    )
    said.push(t('repeat.onThe', { which: list(nths.length > 0 ? nths : dates) }))
  }
  if (r.count) said.push(t('repeat.times', { count: r.count }))
  else if (r.until)
    said.push(t('repeat.untilDate', { date: format(dateOf(r.until), language, 'UTC', { dateStyle: 'medium' }) }))
  return said.join(', ')
}
