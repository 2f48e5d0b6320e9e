import { expect, test } from 'vitest'
import { compare, compareTexts, compareWords } from './diff'

const side = (pieces: { kind: string; text: string }[], other: string) =>
  pieces.filter((p) => p.kind !== other).map((p) => p.text)

test('both versions can be restored from any comparison', () => {
  let seed = 7
  const random = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  for (let round = 0; round < 200; round++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: random(12) }, () => 'abc'[random(3)] ?? ''))
    const pieces = compare(a ?? [], b ?? [])
    expect(side(pieces, 'added')).toEqual(a)
    expect(side(pieces, 'removed')).toEqual(b)
  }
})

test('only changed words are shown as changed', () => {
  expect(compareWords('Giá vàng vượt 90 triệu', 'Giá vàng vượt 91 triệu')).toEqual([
    { kind: 'same', text: 'Giá vàng vượt ' },
    { kind: 'removed', text: '90' },
    { kind: 'added', text: '91' },
    { kind: 'same', text: ' triệu' },
  ])
})

test('paragraphs are the same, changed, added or removed', () => {
  const before = ['The river rises.', 'Nobody was hurt in the town.', 'A bridge is closed to all traffic.'].join('\n\n')
  const after = [
    'The river rises.',
    'Two people were hurt in the town.',
    'A bridge is closed to all traffic.',
    'By our desk.',
  ].join('\n\n')
  expect(compareTexts(before, after).map((b) => b.kind)).toEqual(['same', 'changed', 'same', 'added'])
  expect(compareTexts('One thing.', 'Something else entirely, without a word in common').map((b) => b.kind)).toEqual([
    'removed',
    'added',
  ])
})

test('texts too large to compare are shown as replaced', () => {
  const many = (word: string) => Array.from({ length: 2000 }, (_, i) => `${word} ${i}`)
  const pieces = compare(many('a'), many('b'))
  expect(pieces.length).toBe(4000)
  expect(pieces[0]?.kind).toBe('removed')
})
