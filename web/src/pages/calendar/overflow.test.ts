import { expect, test } from 'vitest'
import { foldOverflow } from './overflow'

const at = (...minutes: number[]) => minutes.map((start, i) => ({ start, rank: 1, item: `${i}` }))
const items = (shown: { item: string }[]) => shown.map((s) => s.item)

test('ten posts in five minutes are two columns and a list of the others', () => {
  const { shown, overflow } = foldOverflow(at(614, 614, 614, 615, 615, 616, 616, 617, 618, 618), 2, 30)
  expect(shown.map((s) => s.place)).toEqual([
    { column: 0, of: 2 },
    { column: 1, of: 2 },
  ])
  expect(overflow).toMatchObject([{ start: 614, hidden: 8 }])
  expect(overflow[0]?.items).toHaveLength(10)
})

test('what fits is not folded', () => {
  const { shown, overflow } = foldOverflow(at(600, 615, 700), 2, 30)
  expect(shown.every((s) => s.place === undefined)).toBe(true)
  expect(overflow).toEqual([])
})

test('a long chain of which two overlap at a time is not a overflow', () => {
  const { overflow } = foldOverflow(at(600, 615, 630, 645, 660, 675), 2, 30)
  expect(overflow).toEqual([])
})

test('each time with many entries has its own list', () => {
  const { overflow } = foldOverflow(at(600, 600, 600, 628, 640, 640, 640, 900, 900, 900), 2, 30)
  expect(overflow.map((c) => [c.start, c.hidden])).toEqual([
    [600, 2],
    [640, 1],
    [900, 1],
  ])
  expect(overflow.at(-1)).toMatchObject({ start: 900, hidden: 1, items: ['7', '8', '9'] })
})

test('of posts at the same time, problems are drawn first', () => {
  const all = [...at(600, 600, 600), { start: 600, rank: 0, item: 'failed' }]
  expect(items(foldOverflow(all, 1, 30).shown)).toEqual(['failed'])
})

test('nothing is lost: every entry is drawn or in a list', () => {
  const all = at(...Array.from({ length: 200 }, (_, i) => (i * 7) % 1440))
  for (const columns of [1, 2, 4]) {
    const { shown, overflow } = foldOverflow(all, columns, 30)
    expect(new Set([...items(shown), ...overflow.flatMap((c) => c.items)]).size).toBe(200)
    expect(shown.length + overflow.reduce((sum, c) => sum + c.hidden, 0)).toBe(200)
  }
})
