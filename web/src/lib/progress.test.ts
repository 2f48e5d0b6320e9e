import { expect, test } from 'vitest'
import { measure, percent, rateOf, type Sample, secondsLeft } from './progress'

const read = (...samples: [at: number, done: number][]) =>
  samples.reduce<Sample[]>((all, [at, done]) => measure(all, { at, done }), [])

test('the rate is known after a second with progress', () => {
  expect(rateOf(read())).toBeUndefined()
  expect(rateOf(read([0, 0], [500, 50]))).toBeUndefined()
  expect(rateOf(read([0, 10], [2000, 10]))).toBeUndefined()
  expect(rateOf(read([0, 10], [2000, 50]))).toBe(20)
})

test('the rate is that of the last half minute', () => {
  const fast = Array.from({ length: 30 }, (_, i) => [i * 1000, i * 1000] as [number, number])
  const slow = Array.from({ length: 40 }, (_, i) => [30_000 + i * 1000, 29_000 + i] as [number, number])
  expect(rateOf(read(...fast, ...slow))).toBeCloseTo(1)
})

test('another job begins again', () => {
  expect(rateOf(read([0, 0], [2000, 50], [3000, 0]))).toBeUndefined()
  expect(read([0, 5], [0, 5], [-1, 5])).toHaveLength(1) // the same answer, or an older one
})

test('the time left needs a rate and a total', () => {
  expect(secondsLeft(undefined, 1, 10)).toBeUndefined()
  expect(secondsLeft(2, 1, undefined)).toBeUndefined()
  expect(secondsLeft(2, 10, 10)).toBeUndefined()
  expect(secondsLeft(2, 4, 10)).toBe(3)
})

test('only completed work is 100%', () => {
  expect([percent(0, 7), percent(1999, 2000), percent(2000, 2000), percent(3, 2)]).toEqual([0, 99, 100, 100])
})
