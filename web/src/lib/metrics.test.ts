import { expect, test } from 'vitest'
import { dimensionLabel, metricNames } from './metrics'

test('shows only metrics that are known, the usual ones first', () => {
  expect(metricNames([{ likes: 0, plays: 3 }, { views: 9 }, {}])).toEqual(['views', 'likes', 'plays'])
  expect(metricNames([])).toEqual([])
})

test.each([
  ['weekday', '1', 'en', 'Monday'],
  ['weekday', '7', 'en', 'Sunday'],
  ['weekday', '1', 'vi', 'Thứ Hai'],
  ['hour', '7', 'en', '07:00'],
  ['network', 'x', 'en', 'X'],
  ['section', 'Sport', 'en', 'Sport'],
] as const)('names %s %s in %s', (by, value, language, want) => {
  expect(dimensionLabel({ by, value }, language, (name) => name.toUpperCase())).toBe(want)
})
