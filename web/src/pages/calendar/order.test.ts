import { expect, test } from 'vitest'
import { followerOf, placeBeside, placeOn, type QueueSlot, reordered } from './order'

/** Slots by letter; - is free, capital letters cannot be moved. */
const slots = (text: string): QueueSlot[] =>
  [...text].map((c, i) => ({ at: `2031-03-0${i + 1}`, post_id: c === '-' ? undefined : c }))
const movable = new Set(['a', 'b', 'c', 'd'])
const text = (all: QueueSlot[]) => all.map((s) => s.post_id ?? '-').join('')
const drop = (queue: string, id: string, target: string) => {
  const place = placeOn(slots(queue), movable, id, target)
  return place && text(reordered(slots(queue), movable, id, place.before))
}

test('a post that is dropped on another one takes its slot, and those between move by one', () => {
  expect(drop('abcd', 'd', 'a')).toBe('dabc')
  expect(drop('abcd', 'a', 'd')).toBe('bcda')
  expect(drop('abcd', 'b', 'c')).toBe('acbd')
  expect(drop('abcd', 'a', 'a')).toBeUndefined()
})

test('free slots and posts that cannot be moved keep their place', () => {
  expect(drop('a-bXc', 'c', 'a')).toBe('c-aXb')
  expect(drop('a-bXc', 'a', 'X')).toBeUndefined()
})

test('a move by keyboard ends at the ends of the queue, and can be undone', () => {
  const queue = slots('aX-b')
  expect(placeBeside(queue, movable, 'a', -1)).toBeUndefined()
  expect(placeBeside(queue, movable, 'b', 1)).toBeUndefined()
  const place = placeBeside(queue, movable, 'a', 1)
  const after = reordered(queue, movable, 'a', place?.before)
  expect(text(after)).toBe('bX-a')
  expect(text(reordered(after, movable, 'a', followerOf(queue, movable, 'a')))).toBe('aX-b')
})
