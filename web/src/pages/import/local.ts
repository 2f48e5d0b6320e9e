import Papa from 'papaparse'
import { readSheet, type Sheet } from '../../lib/csv'
import { fold } from '../../lib/fold'

/** Vietnamese names of columns, without their diacritics, and the API's. */
const names: Record<string, string> = {
  'noi dung': 'content',
  'bai viet': 'content',
  'noi dung bai viet': 'content',
  'thoi gian': 'scheduled_time',
  'thoi gian dang': 'scheduled_time',
  'thoi diem dang': 'scheduled_time',
  'ngay gio': 'scheduled_time',
  'ngay gio dang': 'scheduled_time',
  'ngay dang': 'scheduled_time',
  'gio dang': 'scheduled_time',
  'lich dang': 'scheduled_time',
  'mui gio': 'time_zone',
  'tai khoan': 'accounts',
  'ngon ngu': 'language',
  'tep dinh kem': 'attachments',
  tep: 'attachments',
  'ban nhap': 'draft',
  nhap: 'draft',
  'chuoi bai': 'thread',
}

/** The API's name of a column: "Thời gian đăng" is scheduled_time. */
export const columnOf = (name: string): string =>
  names[
    fold(name)
      .replace(/[\s_-]+/g, ' ')
      .trim()
  ] ?? name

type Order = 'day' | 'month'

interface Written {
  first: number
  second: number
  year: number
  clock: string
  /** With dots the day is first in every language (CLDR, date formats). */
  isDotted: boolean
}

const clock = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d{2})(?::(?<seconds>\d{2}))?|[hg](?<after>\d{2})?)(?:\s*(?<half>[ap])\.?m\.?)?`
const date = String.raw`(?<first>\d{1,2})(?<sep>[/.-])(?<second>\d{1,2})\k<sep>(?<year>\d{4})`
const forms = [new RegExp(`^${clock},?\\s+${date}$`, 'i'), new RegExp(`^${date},?\\s+${clock}$`, 'i')]

/** The year first, as in ISO 8601, but with a space or slashes: 2026-11-29 10:00. */
const yearFirst = /^(\d{4})[-/](\d{2})[-/](\d{2}),?\s+(\d{1,2})(:\d{2}(?::\d{2})?)$/

/** A time as spreadsheets write it, with "/", "." or "-", and its clock before or after it: 29/11/2026 10:00, 10h30 29/11/2026. */
function written(text: string): Written | undefined {
  const g = forms.map((form) => form.exec(text.trim())?.groups).find((groups) => groups !== undefined)
  if (!g) return undefined
  const given = Number(g.hour)
  const hour = g.half ? (given % 12) + (g.half.toLowerCase() === 'p' ? 12 : 0) : given
  const minute = Number(g.minute ?? g.after ?? 0)
  if (hour > 23 || minute > 59 || Number(g.seconds ?? 0) > 59 || (g.half && (given < 1 || given > 12))) return undefined
  const two = (n: number) => String(n).padStart(2, '0')
  return {
    first: Number(g.first),
    second: Number(g.second),
    year: Number(g.year),
    clock: `${two(hour)}:${two(minute)}${g.seconds ? `:${g.seconds}` : ''}`,
    isDotted: g.sep === '.',
  }
}

function iso({ first, second, year, clock, isDotted }: Written, order: Order): string | undefined {
  const [day, month] = order === 'day' || isDotted ? [first, second] : [second, first]
  const at = new Date(Date.UTC(year, month - 1, day))
  const isDay = at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === day
  return isDay ? `${at.toISOString().slice(0, 10)}T${clock}` : undefined
}

/**
 * The times of a file as the API reads them. A spreadsheet writes all its dates in one order: one of them that has only one
 * reading, such as 29/11, decides the others. Without one, Vietnamese puts the day first; in English the time is ambiguous.
 */
export function localTimes(texts: string[], language: string): ({ time: string } | { ambiguous: [string, string] })[] {
  const all = texts.map(written)
  const orders = new Set<Order>()
  for (const w of all) {
    if (!w || w.isDotted || w.first === w.second) continue
    const [day, month] = [iso(w, 'day'), iso(w, 'month')]
    if (day && !month) orders.add('day')
    if (month && !day) orders.add('month')
  }
  const [only] = orders
  const order = orders.size === 1 ? only : orders.size === 0 && language === 'vi' ? 'day' : undefined
  return all.map((w, i) => {
    const text = texts[i] ?? ''
    if (!w)
      return {
        time: text.trim().replace(yearFirst, (_, y, m, d, h, rest) => `${y}-${m}-${d}T${h.padStart(2, '0')}${rest}`),
      }
    const [day, month] = [iso(w, 'day'), iso(w, 'month')]
    if (day && month && day !== month && !order) return { ambiguous: [day, month] }
    return { time: (order === 'month' ? (month ?? day) : (day ?? month)) ?? text }
  })
}

/** What is sent for a sheet: its rows with the API's columns and times, and which times were ambiguous, by line. */
export interface Prepared {
  text: string
  /** The lines of the rows in the file, in the order of the rows in text. */
  lines: number[]
  ambiguous: Map<number, [string, string]>
}

export function prepare({ columns, rows, ragged }: Sheet, language: string): Prepared {
  const lines = [...rows.keys()].filter((line) => columns.some((c) => (rows.get(line)?.[c] ?? '').trim() !== ''))
  const times = localTimes(
    lines.map((line) => rows.get(line)?.scheduled_time ?? ''),
    language,
  )
  const ambiguous = new Map<number, [string, string]>()
  const data = lines.map((line, i) => {
    const time = times[i]
    if (time && 'ambiguous' in time) ambiguous.set(line, time.ambiguous)
    const cells = columns.map((c) => {
      const cell = rows.get(line)?.[c] ?? ''
      return c === 'scheduled_time' && time && 'time' in time ? time.time : cell
    })
    // A row with missing or further cells stays one, which the API refuses.
    return [...cells.slice(0, ragged.get(line)?.count), ...(ragged.get(line)?.extra ?? [])]
  })
  return { text: Papa.unparse([columns, ...data]), lines, ambiguous }
}

/** Reads a file, with the API's names of its columns. */
export function readFile(text: string): Sheet {
  const { columns, rows, ragged } = readSheet(text)
  return {
    ragged,
    columns: columns.map(columnOf),
    rows: new Map(
      [...rows].map(([line, row]) => [line, Object.fromEntries(Object.entries(row).map(([c, v]) => [columnOf(c), v]))]),
    ),
  }
}

/** The line in the file of each line where a row of the sent text begins. */
export function linesOf({ text, lines }: Prepared): Map<number, number> {
  return new Map([...readSheet(text).rows.keys()].map((sent, i) => [sent, lines[i] ?? sent]))
}
