import { expect, test } from 'vitest'
import { after } from './after'

const all = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]

test.each([
  ['the chosen one', 'b', 0, 'b'],
  ['its successor when it is gone', 'x', 1, 'b'],
  ['the last one when the last is gone', 'x', 3, 'c'],
  ['the first one at first', undefined, 0, 'a'],
] as const)('a list continues with %s', (_, id, place, want) => {
  expect(after(all, id, place)?.id).toBe(want)
})

test('an empty list has none', () => expect(after([], 'a', 0)).toBeUndefined())
