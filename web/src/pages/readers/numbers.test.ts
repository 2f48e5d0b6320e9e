import { expect, test } from 'vitest'
import { byReason, changeOf, completeBuckets, csvQuery, formatChange, formatMetric, shownMetrics } from './numbers'

test.each([
  [1200, 'count', 'en', '1,200'],
  [1200, 'count', 'vi', '1.200'],
  [1.256, 'decimal', 'vi', '1,26'],
  [0.4567, 'rate', 'en', '45.7%'],
  [64.6, 'duration', 'en', '1:05'],
  [undefined, 'rate', 'en', '–'],
] as const)('%s as %s in %s', (value, kind, language, want) => {
  expect(formatMetric(value, kind, language)).toBe(want)
})

test.each([
  [120, 100, 'count', '+20%'],
  [100, 104, 'count', '-3.8%'],
  [0, 0, 'count', '0%'],
  [0.5, 0.45, 'rate', '+5'],
] as const)('the change to %s from %s as %s', (now, before, kind, want) => {
  const change = changeOf(now, before, kind)
  expect(change && formatChange(change, 'en')).toBe(want)
})

test('a change without a base is unknown', () => {
  expect(changeOf(5, 0)).toBeUndefined()
  expect(changeOf(5, undefined)).toBeUndefined()
})

test('with a filter, only counted totals are shown', () => {
  expect(shownMetrics({ visits: 3 }, true).map((m) => m.key)).toEqual(['visits'])
  expect(shownMetrics({ visits: 3 }, false)).toHaveLength(6)
  expect(shownMetrics({ visits: 3, median_seconds: 20, engaged_views: 2 }, true).map((m) => m.key)).toEqual([
    'visits',
    'median_seconds',
  ])
})

test('engaged time is shown if views sent heartbeats', () => {
  expect(shownMetrics({ views: 3, engaged_views: 0 }, false)).toHaveLength(6)
  expect(shownMetrics({ views: 3, engaged_views: 1 }, false).map((m) => m.key)).toEqual([
    'views',
    'visitors',
    'visits',
    'views_per_visit',
    'median_seconds',
    'bounce_rate',
    'engaged_bounce_rate',
    'recirculation_rate',
  ])
})

test('missing tables are grouped by reason', () => {
  const reason = ''
  expect(
    byReason([
      { by: 'pages', code: 'expired', reason },
      { by: 'sources', code: 'no_hours', reason },
      { by: 'channels', code: 'expired', reason },
    ]),
  ).toEqual([
    ['expired', ['pages', 'channels']],
    ['no_hours', ['sources']],
  ])
})

test('the parameters of a CSV file', () => {
  expect(csvQuery({ from: '2026-11-01', to: '2026-11-02' }, 'pages', undefined, undefined)).toBe(
    'from=2026-11-01&to=2026-11-02&by=pages&format=csv&limit=1000',
  )
  expect(csvQuery({ from: '2026-11-01', to: '2026-11-02' }, 'days', 'year', ['page:/a&b', 'country:VN'])).toBe(
    'from=2026-11-01&to=2026-11-02&by=days&format=csv&limit=1000&compare=year&filter=page%3A%2Fa%26b&filter=country%3AVN',
  )
})

test.each([
  ['days', 'Asia/Ho_Chi_Minh', ['2026-11-22', '2026-11-23', '2026-11-24'], 2],
  ['days', 'UTC', ['2026-11-22', '2026-11-23'], 1],
  ['days', 'UTC', ['2026-11-20', '2026-11-21'], 2],
  ['months', 'UTC', ['2026-09-01', '2026-10-01', '2026-11-01'], 2],
  ['hours', 'UTC', ['2026-11-23T16:00:00Z', '2026-11-23T17:00:00Z', '2026-11-23T18:00:00Z'], 1],
] as const)('complete %s in %s of %o', (grain, zone, starts, want) => {
  expect(completeBuckets([...starts], grain, zone, Date.parse('2026-11-23T17:30:00Z'))).toBe(want)
})
