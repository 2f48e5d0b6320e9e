/** A local time: 2026-12-24T18:00:00, without zone. */
export type Wall = string

const parts = new Map<string, Intl.DateTimeFormat>()

function clock(zone: string): Intl.DateTimeFormat {
  let format = parts.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    })
    parts.set(zone, format)
  }
  return format
}

/** The local time in a zone at an instant. */
export function toWall(instant: string | number | Date, zone: string): Wall {
  const p: Record<string, string> = {}
  for (const { type, value } of clock(zone).formatToParts(new Date(instant))) p[type] = value
  return `${p.year}-${p.month}-${p.day}T${p.hour}:${p.minute}:${p.second}`
}

const utc = (wall: Wall) => Date.parse(`${wall.replace(' ', 'T').padEnd(19, ':00').slice(0, 19)}Z`)

/**
 * The instant of a local time. An ambiguous time means
 * the first; a skipped one is later by the length of the gap.
 */
export function toInstant(wall: Wall, zone: string): Date {
  const want = utc(wall)
  const shift = (at: number) => utc(toWall(at, zone)) - at
  const candidates = [want - shift(want - 86_400_000), want - shift(want + 86_400_000)]
  const right = candidates.filter((at) => utc(toWall(at, zone)) === want)
  return new Date(right.length > 0 ? Math.min(...right) : (candidates[0] ?? want))
}

export const zones: string[] = (() => {
  const all = Intl.supportedValuesOf('timeZone').map((z) => (z === 'Asia/Saigon' ? 'Asia/Ho_Chi_Minh' : z))
  return all.includes('UTC') ? all : ['UTC', ...all]
})()

/** The Monday of a date's week: weeks end on Sunday. */
export function mondayOf(date: string): string {
  const day = new Date(`${date}T00:00Z`)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
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
function vietnamese({ dateStyle, timeStyle, hour, minute, second, fractionalSecondDigits, timeZoneName, hourCycle, ...day }: Intl.DateTimeFormatOptions) {
  const clock: Intl.DateTimeFormatOptions = timeStyle ? { ...clocks[timeStyle] } : { hour, minute, second, fractionalSecondDigits, timeZoneName }
  const date: Intl.DateTimeFormatOptions = dateStyle ? { ...dates[dateStyle] } : { ...day, ...(day.month === 'short' || (day.month === 'long' && day.day && day.year) ? { month: 'numeric' } : {}) }
  return { clock: clock.hour ? { ...clock, hourCycle: hourCycle ?? ('h23' as const) } : undefined, date: Object.keys(date).length > 0 ? date : undefined }
}

export function format(at: string | number | Date, language: string, zone: string, given: Intl.DateTimeFormatOptions): string {
  // Newsrooms count 24 hours in English, too.
  const options = language === 'vi' ? vietnamese(given) : { clock: undefined, date: given.timeStyle ? { hourCycle: 'h23' as const, ...given } : given }
  const one = (o: Intl.DateTimeFormatOptions) => {
    const key = `${language}|${zone}|${JSON.stringify(o)}`
    let f = formats.get(key)
    if (!f) {
      f = new Intl.DateTimeFormat(language, { ...o, timeZone: zone })
      formats.set(key, f)
    }
    return f.format(new Date(at))
  }
  return [options.clock, options.date].filter((o) => o !== undefined).map(one).join(', ')
}

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
  const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(exact ? { second: '2-digit', fractionalSecondDigits: 3 } : {}) }
  if (wall.slice(0, 10) === day) return format(instant, language, 'UTC', clock)
  const isThisYear = wall.slice(0, 4) === (day ?? new Date().toISOString()).slice(0, 4)
  const date = format(instant, language, 'UTC', { day: 'numeric', month: 'short', ...(isThisYear ? {} : { year: 'numeric' }) })
  return `${format(instant, language, 'UTC', clock)}, ${date}`
}

/** A date as a title: months and weekdays begin with a small letter in some languages. */
export const capitalized = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)

/** A range of days, such as 27 Oct – 23 Nov 2026. */
export function formatRange(from: string, to: string, language: string): string {
  const look: Intl.DateTimeFormatOptions = language === 'vi' ? dates.medium : { dateStyle: 'medium' }
  return new Intl.DateTimeFormat(language, { ...look, timeZone: 'UTC' }).formatRange(new Date(`${from}T00:00Z`), new Date(`${to}T00:00Z`))
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]]

/** The duration until or since a time, in words. */
export function relative(at: string | number | Date, language: string, now = Date.now()): string {
  const ms = new Date(at).getTime() - now
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? ['second', 1000]
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.trunc(ms / (size as number)), unit as Intl.RelativeTimeFormatUnit)
}
