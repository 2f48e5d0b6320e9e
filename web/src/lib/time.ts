import type { Schemas } from '../api/client'

/** A local time: 2026-12-24T18:00:00, without zone. */
export type Wall = string

type Rules = { offset: number; instants: number[]; offsets: number[] }

/**
 * The offsets of time zones, from the server. The browser has a database of its own, whose version is another one: only the
 * server's rules decide when a post is published.
 */
let rules = new Map<string, Rules>()
let names: string[] = []

const regions = /^(?:UTC|(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)\/.+)$/

export function loadZones(all: Pick<Schemas['TimeZones'], 'rules'>) {
  rules = new Map()
  for (const { zones, offset, changes } of all.rules) {
    const one = {
      offset,
      instants: changes.map(([at]) => (at ?? 0) * 1000),
      offsets: changes.map(([, after]) => after ?? 0),
    }
    for (const zone of zones) rules.set(zone, one)
  }
  names = [...rules.keys()].filter((zone) => regions.test(zone) && zone !== 'Asia/Saigon').sort()
}

/** The offset of a zone from UTC at an instant, in milliseconds; 0 for a zone that the server does not know. */
function offsetAt(ms: number, zone: string): number {
  const known = rules.get(zone)
  if (!known) return 0
  let [low, high] = [0, known.instants.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((known.instants[middle] ?? 0) <= ms) low = middle + 1
    else high = middle
  }
  return (known.offsets[low - 1] ?? known.offset) * 1000
}

/** The offset of a zone from UTC, like GMT+7. */
export function offsetName(zone: string, at: number = Date.now()): string {
  const minutes = Math.round(offsetAt(at, zone) / 60_000)
  if (minutes === 0) return 'GMT'
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `GMT${minutes < 0 ? '-' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`
}

/** The local time in a zone at an instant. */
export function toWall(instant: string | number | Date, zone: string): Wall {
  const ms = new Date(instant).getTime()
  return new Date(ms + offsetAt(ms, zone)).toISOString().slice(0, 19)
}

const utc = (wall: Wall) => Date.parse(`${wall.replace(' ', 'T').padEnd(19, ':00').slice(0, 19)}Z`)

/**
 * The instant of a local time. An ambiguous time means
 * the first; a skipped one is later by the length of the gap.
 */
export function toInstant(wall: Wall, zone: string): Date {
  const want = utc(wall)
  const candidates = [want - offsetAt(want - 86_400_000, zone), want - offsetAt(want + 86_400_000, zone)]
  const right = candidates.filter((at) => at + offsetAt(at, zone) === want)
  return new Date(right.length > 0 ? Math.min(...right) : (candidates[0] ?? want))
}

/** The names to choose from: by city, not old ones like US/Pacific. */
export const zoneNames = (): string[] => names

/** The Monday of a date's week: weeks end on Sunday. */
export function mondayOf(date: string): string {
  const day = new Date(`${date}T00:00Z`)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

/** The date some days after another. */
export function addDays(date: string, days: number): string {
  const day = new Date(`${date.slice(0, 10)}T00:00Z`)
  day.setUTCDate(day.getUTCDate() + days)
  return day.toISOString().slice(0, 10)
}

const formats = new Map<string, Intl.DateTimeFormat>()

const dates = {
  full: { weekday: 'long', day: 'numeric', month: 'numeric', year: 'numeric' },
  long: { day: 'numeric', month: 'numeric', year: 'numeric' },
  medium: { day: 'numeric', month: 'numeric', year: 'numeric' },
  short: { day: 'numeric', month: 'numeric', year: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

const clocks = {
  full: { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  long: { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  medium: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  short: { hour: '2-digit', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** Vietnamese newsrooms write the time before the day, and days as 22/11, not as 22 thg 11. */
function vietnamese({
  dateStyle,
  timeStyle,
  hour,
  minute,
  second,
  fractionalSecondDigits,
  timeZoneName,
  hourCycle,
  ...day
}: Intl.DateTimeFormatOptions) {
  const clock: Intl.DateTimeFormatOptions = timeStyle
    ? { ...clocks[timeStyle] }
    : { hour, minute, second, fractionalSecondDigits, timeZoneName }
  const date: Intl.DateTimeFormatOptions = dateStyle
    ? { ...dates[dateStyle] }
    : {
        ...day,
        ...(day.month === 'short' || (day.month === 'long' && day.day && day.year) ? { month: 'numeric' } : {}),
        // "T7" and "CN": the only short form; Intl's other one is "Thứ 7".
        ...(day.weekday === 'short' ? { weekday: 'narrow' as const } : {}),
      }
  return {
    clock: clock.hour ? { ...clock, hourCycle: hourCycle ?? ('h23' as const) } : undefined,
    date: Object.keys(date).length > 0 ? date : undefined,
  }
}

export function format(
  at: string | number | Date,
  language: string,
  zone: string,
  given: Intl.DateTimeFormatOptions,
): string {
  const ms = new Date(at).getTime()
  // Newsrooms count 24 hours in English, too.
  const options =
    language === 'vi'
      ? vietnamese(given)
      : { clock: undefined, date: given.timeStyle || given.hour ? { hourCycle: 'h23' as const, ...given } : given }
  const one = ({ timeZoneName, ...o }: Intl.DateTimeFormatOptions) => {
    const isZoned = timeZoneName !== undefined || o.timeStyle === 'long' || o.timeStyle === 'full'
    if (isZoned && o.timeStyle) o.timeStyle = 'medium' // the others name UTC, in which the local time is formatted
    const key = `${language}|${JSON.stringify(o)}`
    let f = formats.get(key)
    if (!f) {
      f = new Intl.DateTimeFormat(language, { ...o, timeZone: 'UTC' })
      formats.set(key, f)
    }
    const text = f.format(ms + offsetAt(ms, zone))
    return isZoned ? `${text} ${zone === 'UTC' ? 'UTC' : offsetName(zone, ms)}` : text
  }
  return [options.clock, options.date]
    .filter((o) => o !== undefined)
    .map(one)
    .join(', ')
}

const forms = {
  long: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  clock: { hour: '2-digit', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** The forms of a time: a long and a short one, and the short one's day and clock alone. */
export type Form = keyof typeof forms

/** A time in one of the forms. Of another year, the year is shown: the day would be taken for one of this year. */
export function formatTime(at: string | number | Date, language: string, zone: string, form: Form): string {
  const isOther = form !== 'clock' && !isThisYear(`${toWall(at, zone)}Z`)
  return format(at, language, zone, { ...forms[form], ...(isOther ? { year: 'numeric' } : {}) })
}

/** All that is known of a time, for its tooltip: weekday, milliseconds and offset. */
export const formatExact = (at: string | number | Date, language: string, zone: string): string =>
  `${format(at, language, zone, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  })} ${zone === 'UTC' ? 'UTC' : offsetName(zone, new Date(at).getTime())}`

/** The name of a weekday, as in dates: Saturday or Sat, "Thứ Bảy" or "T7". day is 0 for Monday. */
export const weekdayName = (day: number, language: string, look: 'long' | 'short' = 'long'): string =>
  format(Date.UTC(2024, 0, 1 + day), language, 'UTC', { weekday: look })

/**
 * A local time in words: 23:41, 22/11. at is RFC 3339; its offset is that of the time zone to show. Without day the
 * year is added unless it is the current one. With the day of a timeline's entry the time is exact, and a day is added
 * if it is another one.
 */
export function formatWall(at: string, language: string, day?: string): string {
  const wall = at.slice(0, 19)
  const milliseconds = /\.(\d{3})/.exec(at)?.[1] ?? '000'
  const instant = `${wall}.${milliseconds}Z`
  const exact = day !== undefined
  const clock: Intl.DateTimeFormatOptions = {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(exact ? { second: '2-digit', fractionalSecondDigits: 3 } : {}),
  }
  if (wall.slice(0, 10) === day) return format(instant, language, 'UTC', clock)
  const isThisYear = wall.slice(0, 4) === (day ?? new Date().toISOString()).slice(0, 4)
  const date = format(instant, language, 'UTC', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
  return `${format(instant, language, 'UTC', clock)}, ${date}`
}

/** Whether a date or time is in the current year: of others the year is shown. */
export const isThisYear = (at: string, now = Date.now()): boolean =>
  new Date(at).getUTCFullYear() === new Date(now).getUTCFullYear()

/** A date as a title: months and weekdays begin with a small letter in some languages. */
export const capitalized = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)

/** A range of days, such as 27 Oct – 23 Nov 2026; in Vietnamese 27/10 – 23/11/2026 or 23–29/11/2026. */
export function formatRange(from: string, to: string, language: string): string {
  const look: Intl.DateTimeFormatOptions = language === 'vi' ? dates.medium : { dateStyle: 'medium' }
  if (language === 'vi' && from !== to && from.slice(0, 4) === to.slice(0, 4)) {
    // Intl repeats the month and the year, which CLDR's numeric patterns of ranges do in this language.
    const last = format(`${to}T00:00Z`, language, 'UTC', dates.medium)
    if (from.slice(0, 7) === to.slice(0, 7)) return `${Number(from.slice(8))}–${last}`
    return `${format(`${from}T00:00Z`, language, 'UTC', { day: 'numeric', month: 'numeric' })} – ${last}`
  }
  return new Intl.DateTimeFormat(language, { ...look, timeZone: 'UTC' }).formatRange(
    new Date(`${from}T00:00Z`),
    new Date(`${to}T00:00Z`),
  )
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** The duration until or since a time, in words. */
export function relative(at: string | number | Date, language: string, now = Date.now()): string {
  const ms = new Date(at).getTime() - now
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1000]
  const text = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(
    Math.trunc(ms / (size as number)),
    unit as Intl.RelativeTimeFormatUnit,
  )
  // CLDR writes "Ngày mai" as a title; here it stands in sentences.
  return text.charAt(0).toLocaleLowerCase(language) + text.slice(1)
}
