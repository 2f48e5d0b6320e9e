import { expect, test } from 'vitest'
import { select } from './selection'

const all = ['a', 'b', 'c', 'd', 'e']

test.each([
  ['a click', [], 'c', true, undefined, ['c']],
  ['a second one', ['c'], 'a', true, undefined, ['a', 'c']],
  ['Shift downward', ['b'], 'd', true, 'b', ['b', 'c', 'd']],
  ['Shift upward', ['d'], 'b', true, 'd', ['b', 'c', 'd']],
  ['Shift that unselects', ['a', 'b', 'c'], 'c', false, 'b', ['a']],
  ['a last one that is decided', ['b'], 'd', true, 'gone', ['b', 'd']],
  ['selected ones that are decided', ['gone', 'b'], 'b', false, undefined, []],
] as const)('%s', (_, chosen, id, isOn, from, want) => {
  expect(select([...chosen], all, id, isOn, from)).toEqual(want)
})
