import { expect, test } from 'vitest'
import { splitRunning, wholeSteps } from './plot'

const none = null

test.each([
  ['of a day', [4, 6, 9], 2, [4, 6, none], [none, 6, 9]],
  ['which is over', [4, 6], 2, [4, 6], [none, none]],
  ['whose first bucket runs', [3], 0, [none], [3]],
  ['with later buckets', [4, 6, 0, 0], 1, [4, none, none, none], [4, 6, none, none]],
  ['with an unknown value', [undefined, 6], 1, [none, none], [none, 6]],
] as const)('the running part of a line %s is apart', (_, values, complete, solid, running) => {
  expect(splitRunning([...values], complete)).toEqual({ solid, running })
})

test('an axis of counts has whole numbers', () => {
  expect(wholeSteps.slice(0, 5)).toEqual([1, 2, 5, 10, 20])
  expect(wholeSteps.every(Number.isInteger)).toBe(true)
})
