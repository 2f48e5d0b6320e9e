import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  format,
  formatRange,
  mondayOf,
  offsetName,
  relative,
  toInstant,
  toWall,
  zoneNames,
  formatExact,
  formatTime,
  weekdayName,
} from './time'

test('local times and instants are converted into each other', () => {
  for (const [wall, zone, instant] of [
    ['2026-12-24T18:00:00', 'Asia/Ho_Chi_Minh', '2026-12-24T11:00:00.000Z'],
    ['2026-12-24T18:00:00', 'Europe/Paris', '2026-12-24T17:00:00.000Z'],
    ['2026-07-01T00:30:00', 'America/St_Johns', '2026-07-01T03:00:00.000Z'],
    ['2026-01-01T00:00:00', 'UTC', '2026-01-01T00:00:00.000Z'],
    ['2026-06-01T12:00:00', 'Pacific/Kiritimati', '2026-05-31T22:00:00.000Z'],
    // By the server's rules, also if the browser's are older.
    ['2026-12-01T09:00:00', 'America/Vancouver', '2026-12-01T16:00:00.000Z'],
    ['2026-02-01T09:00:00', 'America/Vancouver', '2026-02-01T17:00:00.000Z'],
  ] as const) {
    expect(toInstant(wall, zone).toISOString()).toBe(instant)
    expect(toWall(instant, zone)).toBe(wall)
  }
})

test('a space or missing seconds make no difference', () => {
  expect(toInstant('2026-12-24 18:00:00', 'UTC')).toEqual(toInstant('2026-12-24T18:00', 'UTC'))
})

test('an ambiguous hour means the first, and a skipped one is later', () => {
  expect(toInstant('2026-10-25T02:30', 'Europe/Paris').toISOString()).toBe('2026-10-25T00:30:00.000Z')
  expect(toInstant('2026-03-29T02:30', 'Europe/Paris').toISOString()).toBe('2026-03-29T01:30:00.000Z')
})

test('a week begins on its Monday, and a Sunday ends one', () => {
  expect(['2026-11-22', '2026-11-23', '2026-11-25', '2027-01-01'].map(mondayOf)).toEqual([
    '2026-11-16',
    '2026-11-23',
    '2026-11-23',
    '2026-12-28',
  ])
})

test('durations are formatted in the language', () => {
  expect(relative(90_000, 'en', 0)).toBe('in 1 minute')
  expect(relative(0, 'en', 7_200_000)).toBe('2 hours ago')
  expect(relative(-86_400_000, 'en', 0)).toBe('yesterday')
})

test('Vietnamese times stand before their day, which is a number', () => {
  const at = '2026-11-22T23:41:05Z'
  expect(
    format(at, 'vi', 'UTC', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ).toBe('23:41, 22/11')
  expect(
    format(at, 'vi', 'UTC', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
  ).toBe('23:41, CN, 22/11/2026')
  expect(format(at, 'vi', 'UTC', { dateStyle: 'medium', timeStyle: 'short' })).toBe('23:41, 22/11/2026')
  expect(format(at, 'vi', 'Asia/Ho_Chi_Minh', { dateStyle: 'medium' })).toBe('23/11/2026')
  expect(format(at, 'vi', 'UTC', { hour: '2-digit', minute: '2-digit' })).toBe('23:41')
  expect(format(at, 'en', 'UTC', { dateStyle: 'medium' })).toBe('Nov 22, 2026')
  expect(format(at, 'en', 'UTC', { dateStyle: 'medium', timeStyle: 'short' })).toBe('Nov 22, 2026, 23:41')
  expect(format(at, 'vi', 'UTC', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })).toBe(
    'Chủ Nhật, 22/11/2026',
  )
})

test.each([
  ['2026-11-23', '2026-11-29', '23–29/11/2026'],
  ['2026-11-01', '2026-11-02', '1–2/11/2026'],
  ['2026-10-27', '2026-11-22', '27/10 – 22/11/2026'],
  ['2026-12-28', '2027-01-03', '28/12/2026 – 3/1/2027'],
  ['2026-11-29', '2026-11-29', '29/11/2026'],
])('the days from %s to %s are %s in Vietnamese', (from, to, want) => {
  expect(formatRange(from, to, 'vi').replaceAll(/[\u2009\u00a0]/g, ' ')).toBe(want)
})

test('times are formatted by the rules of the server', () => {
  expect(
    format('2026-12-01T16:00:00Z', 'en', 'America/Vancouver', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ).toBe('09:00')
  expect(format('2026-12-01T16:00:00Z', 'en', 'America/Vancouver', { dateStyle: 'full', timeStyle: 'long' })).toBe(
    'Tuesday, December 1, 2026 at 09:00:00 GMT-7',
  )
  expect(format('2026-12-01T16:00:00Z', 'vi', 'America/Vancouver', { dateStyle: 'full', timeStyle: 'long' })).toBe(
    '09:00:00 GMT-7, Thứ Ba, 1/12/2026',
  )
})

test('a zone is named by its offset', () => {
  expect(offsetName('Asia/Ho_Chi_Minh', 0)).toBe('GMT+7')
  expect(offsetName('Europe/Paris', Date.parse('2026-07-01T00:00Z'))).toBe('GMT+2')
  expect(offsetName('America/St_Johns', Date.parse('2026-12-01T00:00Z'))).toBe('GMT-3:30')
  expect(offsetName('Asia/Kolkata', 0)).toBe('GMT+5:30')
  expect(offsetName('UTC', 0)).toBe('GMT')
})

test('zones are chosen by city', () => {
  expect(zoneNames()).toEqual([
    'America/New_York',
    'America/St_Johns',
    'America/Vancouver',
    'Asia/Ho_Chi_Minh',
    'Asia/Kolkata',
    'Europe/Berlin',
    'Europe/Paris',
    'Pacific/Kiritimati',
    'UTC',
  ])
})

const vn = 'Asia/Ho_Chi_Minh'
const year = new Date().getUTCFullYear()

test.each([
  ['en', 'short', `${year}-03-07T02:17:05.123Z`, 'Mar 7, 09:17'],
  ['vi', 'short', `${year}-03-07T02:17:05.123Z`, '09:17, 7/3'],
  ['en', 'short', '2019-03-09T10:05:00Z', 'Mar 9, 2019, 17:05'],
  ['vi', 'short', '2019-03-09T10:05:00Z', '17:05, 9/3/2019'],
  ['en', 'long', '2026-11-28T02:17:00Z', 'Sat, Nov 28, 2026, 09:17'],
  ['vi', 'long', '2026-11-28T02:17:00Z', '09:17, T7, 28/11/2026'],
  ['vi', 'long', '2026-11-28T17:30:00Z', '00:30, CN, 29/11/2026'],
  ['en', 'clock', '2019-03-09T13:00:00Z', '20:00'],
  ['vi', 'day', '2019-03-09T13:00:00Z', '9/3/2019'],
] as const)('a time has one long and one short form with 24 hours: %s, %s', (language, form, at, want) => {
  expect(formatTime(at, language, vn, form)).toBe(want)
})

test('only the tooltip of a time has milliseconds', () => {
  expect(formatExact('2026-11-28T02:17:05.123Z', 'vi', vn)).toBe('09:17:05,123, Thứ Bảy, 28/11/2026 GMT+7')
  expect(formatExact('2026-11-28T14:17:05.123Z', 'en', 'UTC')).toBe('Saturday, November 28, 2026 at 14:17:05.123 UTC')
})

test('weekdays have one long and one short name', () => {
  const all = (look: 'long' | 'short') => [0, 1, 5, 6].map((d) => weekdayName(d, 'vi', look))
  expect(all('long')).toEqual(['Thứ Hai', 'Thứ Ba', 'Thứ Bảy', 'Chủ Nhật'])
  expect(all('short')).toEqual(['T2', 'T3', 'T7', 'CN'])
  expect(weekdayName(6, 'en', 'short')).toBe('Sun')
})

test('all times are formatted here', () => {
  const src = new URL('..', import.meta.url)
  const others = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((f) => /(?<!test)\.tsx?$/.test(f) && f !== 'lib/time.ts')
    .filter((f) => /DateTimeFormat\(|toLocale(Date|Time)String/.test(readFileSync(new URL(f, src), 'utf8')))
  expect(others).toEqual([])
})
