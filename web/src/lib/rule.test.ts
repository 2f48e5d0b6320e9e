import { expect, test } from 'vitest'
import { nthOf, occurrences, defaultRule, parseRule, type Rule, formatRule, upcoming, weekday } from './rule'

const rule = (more: Partial<Rule>): Rule => ({ ...defaultRule, ...more })
const first = (r: Rule, starts: string, most = 4) => occurrences(r, starts, { most })

test('a rule is formatted for the API and parsed back', () => {
  for (const [r, written] of [
    [rule({ freq: 'DAILY' }), 'FREQ=DAILY'],
    [rule({ freq: 'DAILY', interval: 3, count: 10 }), 'FREQ=DAILY;INTERVAL=3;COUNT=10'],
    [
      rule({
        byDay: [
          { nth: 0, day: 'MO' },
          { nth: 0, day: 'FR' },
        ],
        until: '2026-12-31',
      }),
      'FREQ=WEEKLY;BYDAY=MO,FR;UNTIL=20261231',
    ],
    [rule({ freq: 'MONTHLY', byDay: [{ nth: -1, day: 'FR' }] }), 'FREQ=MONTHLY;BYDAY=-1FR'],
    [rule({ freq: 'MONTHLY', byMonthDay: [-1] }), 'FREQ=MONTHLY;BYMONTHDAY=-1'],
  ] as const) {
    expect(formatRule(r)).toBe(written)
    expect(parseRule(written)).toEqual(r)
  }
  expect(parseRule('FREQ=WEEKLY;BYSETPOS=1')).toBeUndefined()
})

test('occurrences are on the days of the rule', () => {
  expect(first(rule({ freq: 'DAILY', interval: 2 }), '2026-12-30T18:00')).toEqual([
    '2026-12-30T18:00',
    '2027-01-01T18:00',
    '2027-01-03T18:00',
    '2027-01-05T18:00',
  ])
  expect(first(rule({ freq: 'DAILY', count: 2 }), '2026-12-30T18:00')).toEqual(['2026-12-30T18:00', '2026-12-31T18:00'])
  expect(first(rule({ freq: 'DAILY', until: '2026-12-31' }), '2026-12-30T18:00')).toEqual([
    '2026-12-30T18:00',
    '2026-12-31T18:00',
  ])
})

test('weeks begin on Monday, and the start counts only if it matches', () => {
  // 24 December 2026 is a Thursday.
  expect(
    first(
      rule({
        interval: 2,
        byDay: [
          { nth: 0, day: 'MO' },
          { nth: 0, day: 'FR' },
        ],
      }),
      '2026-12-24T07:30',
    ),
  ).toEqual(['2026-12-25T07:30', '2027-01-04T07:30', '2027-01-08T07:30', '2027-01-18T07:30'])
  expect(first(rule({}), '2026-12-24T07:30', 2)).toEqual(['2026-12-24T07:30', '2026-12-31T07:30'])
})

test('days that a month does not have are skipped', () => {
  expect(first(rule({ freq: 'MONTHLY', byMonthDay: [31] }), '2027-01-31T09:00', 3)).toEqual([
    '2027-01-31T09:00',
    '2027-03-31T09:00',
    '2027-05-31T09:00',
  ])
  expect(first(rule({ freq: 'MONTHLY', byMonthDay: [-1] }), '2027-01-05T09:00', 3)).toEqual([
    '2027-01-31T09:00',
    '2027-02-28T09:00',
    '2027-03-31T09:00',
  ])
  expect(first(rule({ freq: 'MONTHLY', byDay: [{ nth: -1, day: 'FR' }] }), '2027-01-01T09:00', 2)).toEqual([
    '2027-01-29T09:00',
    '2027-02-26T09:00',
  ])
  expect(first(rule({ freq: 'MONTHLY', interval: 2, byDay: [{ nth: 1, day: 'MO' }] }), '2027-01-01T09:00', 2)).toEqual([
    '2027-01-04T09:00',
    '2027-03-01T09:00',
  ])
})

test('a range of a long series counts from its start', () => {
  expect(
    occurrences(rule({ freq: 'DAILY', count: 10 }), '2026-12-01T18:00', {
      from: '2026-12-09T00:00',
      to: '2026-12-20T00:00',
      most: 50,
    }),
  ).toEqual(['2026-12-09T18:00', '2026-12-10T18:00'])
})

test('upcoming occurrences are instants', () => {
  const now = Date.parse('2026-12-24T12:00:00Z') // 19:00 in Saigon
  expect(upcoming(rule({ freq: 'DAILY' }), '2026-12-01T18:00', 'Asia/Ho_Chi_Minh', 2, now)).toEqual([
    '2026-12-25T11:00:00.000Z',
    '2026-12-26T11:00:00.000Z',
  ])
})

test('a date has its weekday and its number in the month', () => {
  expect([weekday('2026-12-24T18:00'), nthOf('2026-12-24T18:00'), nthOf('2026-12-01')]).toEqual(['TH', 4, 1])
})
