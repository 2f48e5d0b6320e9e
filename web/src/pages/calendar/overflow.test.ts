import { expect, test } from 'vitest'
import { foldOverflow } from './overflow'

const at = (...minutes: number[]) => minutes.map((start, i) => ({ start, rank: 1, item: `${i}` }))
const items = (shown: { item: string }[]) => shown.map((s) => s.item)

test('ten posts in five minutes are two columns and a list of the others', () => {
  const { shown, overflow } = foldOverflow(at(614, 614, 614, 615, 615, 616, 616, 617, 618, 618), 2, 30)
  expect(shown.map((s) => s.place)).toEqual([
    { column: 0, of: 2, isFolded: true },
    { column: 1, of: 2, isFolded: true },
  ])
  expect(overflow).toMatchObject([{ start: 614, hidden: 8 }])
  expect(overflow[0]?.items).toHaveLength(10)
})

test('what fits is not folded', () => {
  const { shown, overflow } = foldOverflow(at(600, 615, 700), 2, 30)
  expect(shown.map((s) => s.place)).toEqual([
    { column: 0, of: 2, isFolded: false },
    { column: 1, of: 2, isFolded: false },
    undefined,
  ])
  expect(overflow).toEqual([])
})

test('entries that overlap never cover each other', () => {
  for (const starts of [
    [400, 427, 440, 450, 460, 471, 494],
    [600, 629, 630, 659, 660],
    [0, 1, 2, 1409, 1410, 1410],
  ]) {
    const all = at(...starts)
    const { shown } = foldOverflow(all, 4, 30)
    const drawn = shown.map(({ item, place }) => ({ start: starts[Number(item)] ?? 0, place }))
    for (const [i, a] of drawn.entries())
      for (const b of drawn.slice(i + 1))
        if (Math.abs(a.start - b.start) < 30)
          expect([a.place?.of, a.place?.column]).not.toEqual([b.place?.of, b.place?.column])
  }
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
