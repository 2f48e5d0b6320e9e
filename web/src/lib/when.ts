import { toInstant, toWall, type Wall } from './time'

/** Normalizes text for comparison: lower case, without Vietnamese diacritics; "thứ" must not match Thursday. */
const plain = (text: string) => text.toLowerCase().normalize('NFC').replaceAll('thứ', 'weekday').normalize('NFD').replace(/[\u0300-\u036f]/g, '').replaceAll('đ', 'd').replace(/[,;]/g, ' ').replace(/\s+/g, ' ').trim()

const weekdays: [RegExp, number][] = [
  [/\b(?:mon(?:day)?|weekday (?:hai|2)|thu hai|t2)\b/, 0],
  [/\b(?:tue(?:s(?:day)?)?|weekday (?:ba|3)|thu ba|t3)\b/, 1],
  [/\b(?:wed(?:nesday)?|weekday (?:tu|4)|thu tu|t4)\b/, 2],
  [/\b(?:weekday (?:nam|5)|thu nam|thu(?:rs(?:day)?)?(?! (?:hai|ba|tu|sau|bay)\b)|t5)\b/, 3],
  [/\b(?:fri(?:day)?|weekday (?:sau|6)|thu sau|t6)\b/, 4],
  [/\b(?:sat(?:urday)?|weekday (?:bay|7)|thu bay|t7)\b/, 5],
  [/\b(?:sun(?:day)?|chu nhat|cn)\b/, 6],
]
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthNames = 'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
const monthOf = (name = '') => months.indexOf(name.slice(0, 3)) + 1

/** Parts of the day: their default time, and whether their hours count from noon. */
const dayParts: [pattern: RegExp, usual: number, afternoon: boolean][] = [
  [/\b(?:morning|buoi sang|sang)\b/, 9, false],
  [/\b(?:noon|buoi trua|trua)\b/, 12, true],
  [/\b(?:afternoon|buoi chieu|chieu)\b/, 15, true],
  [/\b(?:evening|buoi toi|toi)\b/, 19, true],
  [/\b(?:tonight|night|dem)\b/, 20, true],
]
const usualHour = 9

const pad = (n: number) => String(n).padStart(2, '0')
const dayMs = 86_400_000
const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** An existing date, or undefined. */
function dateOf(year: number, month: number, day: number): string | undefined {
  const ms = Date.UTC(year, month - 1, day)
  return month >= 1 && month <= 12 && new Date(ms).getUTCDate() === day ? dateAt(ms) : undefined
}

const unitMs: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs }
const unitOf = (word: string) => (/^(?:m|phut)/.test(word) ? 'minute' : /^(?:h|gio|tieng)/.test(word) ? 'hour' : /^(?:w|tuan)/.test(word) ? 'week' : 'day')
const numberOf = (word: string) => (/^\d/.test(word) ? Number(word) : /^(?:half|nua)/.test(word) ? 0.5 : 1)

/**
 * Parses a time in English or Vietnamese: "tomorrow 9",
 * "mon 18:30", "in 2 hours", "24 Dec 7pm", "thứ hai 7h30", "ngày mai 9 giờ",
 * "tối nay", "2 tiếng nữa", "24/12 18:00". Dates have the day first. Returns undefined
 * if a part is not understood. A time without a date means the next one.
 */
export function parseWhen(text: string, zone: string, now = Date.now()): Wall | undefined {
  let rest = plain(text)
  if (rest === '') return undefined
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const found = pattern.exec(rest)
    if (found) rest = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`.replace(/\s+/g, ' ').trim()
    return found ?? undefined
  }
  const here = toWall(now, zone)
  const today = here.slice(0, 10)
  const plus = (days: number, from = today) => dateAt(Date.parse(`${from}T00:00Z`) + days * dayMs)

  const relative =
    take(/\bin (\d+|an?|half an?) ?(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)\b/) ??
    take(/\bsau (\d+|mot|nua) (phut|gio|tieng|ngay|tuan)\b/) ?? take(/\b(\d+|mot|nua) (phut|gio|tieng|ngay|tuan) (?:nua|sau)\b/)
  let date: string | undefined
  let clock: string | undefined
  if (relative) {
    const unit = unitOf(relative[2] ?? '')
    const ms = numberOf(relative[1] ?? '') * (unitMs[unit] ?? 0)
    if (unit === 'minute' || unit === 'hour') return rest === '' ? toWall(Math.ceil((now + ms) / 60_000) * 60_000, zone).slice(0, 16) : undefined
    date = plus(ms / dayMs)
    clock = here.slice(11, 16)
  }

  const iso = take(/\b(\d{4})-(\d{1,2})-(\d{1,2})(?:t(?=\d)|\b)/)
  if (iso) date = dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  if (iso && !date) return undefined

  const part = dayParts.find(([pattern]) => pattern.test(rest))
  const isTonight = /\btonight\b/.test(rest)
  if (part) take(part[0])
  if (take(/\bmidnight|\bnua dem\b/)) clock = '00:00'

  const vague = take(/\b(?:day after tomorrow|ngay kia|ngay mot|mot)\b/) ? 2 : take(/\b(?:tomorrow|tmr|ngay mai|mai)\b/) ? 1 : take(/\b(?:today|hom nay|nay)\b/) || isTonight ? 0 : undefined
  if (vague !== undefined) date = plus(vague)

  const inNextWeek = /\b(?:next week|tuan (?:sau|toi))\b/.test(rest)
  const weekday = weekdays.find(([pattern]) => pattern.test(rest))
  if (weekday) take(weekday[0])
  const next = take(/\bnext(?: week)?\b/) ?? take(/\btuan (?:sau|toi)\b/)
  if (next && !weekday && !inNextWeek) return undefined

  const explicit = (year: string | undefined, month: number, day: string | undefined): string | undefined => {
    if (year) return dateOf(Number(year.length === 2 ? `20${year}` : year), month, Number(day))
    const thisYear = dateOf(Number(today.slice(0, 4)), month, Number(day))
    return thisYear && thisYear < today ? dateOf(Number(today.slice(0, 4)) + 1, month, Number(day)) : thisYear
  }
  let wanted: string | undefined
  let isDated = false
  if (date === undefined) {
    const forms: [RegExp, (named: RegExpExecArray) => string | undefined][] = [
      [/\b(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}|\d{2}))?(?![\d:h])/, (n) => explicit(n[3], Number(n[2]), n[1])],
      [new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${monthNames})\\b(?: (\\d{4}))?`), (n) => explicit(n[3], monthOf(n[2]), n[1])],
      [new RegExp(`\\b(${monthNames}) (\\d{1,2})(?:st|nd|rd|th)?(?![:\\d])(?: (\\d{4}))?`), (n) => explicit(n[3], monthOf(n[1]), n[2])],
      [/\b(?:ngay )?(\d{1,2}) thang (\d{1,2})(?: (?:nam )?(\d{4}))?\b/, (n) => explicit(n[3], Number(n[2]), n[1])],
    ]
    for (const [form, read] of forms) {
      const named = take(form)
      if (named) {
        wanted = read(named)
        isDated = true
        break
      }
    }
    if (isDated && !wanted) return undefined
    if (wanted) date = wanted
  }
  if (weekday && !isDated && vague === undefined && !iso) {
    const monday = plus(-((new Date(`${today}T00:00Z`).getUTCDay() + 6) % 7))
    date = next ? plus(weekday[1] + 7, monday) : plus((weekday[1] + 7 - ((new Date(`${today}T00:00Z`).getUTCDay() + 6) % 7)) % 7)
  } else if (inNextWeek) date = plus(7)

  const time =
    take(/\b(\d{1,2})(?::(\d{2}))? ?(am|pm)\b/) ?? take(/\b(\d{1,2}):(\d{2})(?::\d{2})?(?!\d)/) ??
    take(/\b(\d{1,2}) ?(?:h|gio|g)(?: ?(\d{1,2}|ruoi)(?: phut)?)?(?![a-z\d])/) ?? take(/(?:\bat |\bluc |\bvao |^|\s)(\d{1,2})(?=$|\s)/)
  if (time) {
    let hour = Number(time[1])
    const minute = time[2] === 'ruoi' ? 30 : Number(time[2] ?? 0)
    if (time[3]) {
      if (hour < 1 || hour > 12) return undefined
      hour = (hour % 12) + (time[3] === 'pm' ? 12 : 0)
    } else if (part?.[2] && hour < 12 && !(part[1] === 12 && hour >= 10)) hour += 12
    if (hour > 23 || minute > 59) return undefined
    clock = `${pad(hour)}:${pad(minute)}`
  } else if (part) clock = `${pad(part[1])}:00`

  rest = rest.replace(/\b(?:at|on|this|the|in|luc|vao|ngay|buoi|gio|by|t)\b/g, '').trim()
  if (rest !== '' || (date === undefined && clock === undefined)) return undefined
  clock ??= `${pad(usualHour)}:00`
  if (date !== undefined) {
    // "Monday 9" on a Monday at ten is in a week.
    const past = toInstant(`${date}T${clock}`, zone).getTime() <= now
    return `${past && weekday && !isDated && !iso && vague === undefined ? plus(7, date) : date}T${clock}`
  }
  return `${toInstant(`${today}T${clock}`, zone).getTime() > now ? today : plus(1)}T${clock}`
}

const shortDays = { en: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], vi: ['T2', 'T3', 'T4', 'T5', 'T6', 'T7', 'CN'] }

/** Formats a time for a field; parseWhen can parse it again. */
export function formatWhen(wall: Wall, language: string): string {
  if (wall === '') return ''
  const [date = '', clock = ''] = [wall.slice(0, 10), wall.slice(11, 16)]
  const day = (new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7
  const [year, month, d] = date.split('-').map(Number)
  return language === 'vi'
    ? `${shortDays.vi[day]}, ${d}/${month}/${year} ${clock}`
    : `${shortDays.en[day]} ${d} ${(months[(month ?? 1) - 1] ?? '').replace(/^./, (c) => c.toUpperCase())} ${year}, ${clock}`
}

/** The offset of a zone from UTC, like GMT+7. */
export const offsetName = (zone: string, at: number = Date.now()) =>
  new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' }).formatToParts(at).find((p) => p.type === 'timeZoneName')?.value ?? ''
