import { expect, test } from 'vitest'
import { cutOf } from './cut'

test('a crop has the ratio and lies within the image', () => {
  expect(cutOf(640, 400, '1:1', 1, 0.5, 0.5)).toEqual({ width: 400, height: 400, left: 120, top: 0 })
  expect(cutOf(400, 640, '16:9', 1, 0.5, 1)).toEqual({ width: 400, height: 225, left: 0, top: 415 })
  expect(cutOf(640, 400, '1:1', 4, 1, 0)).toEqual({ width: 100, height: 100, left: 540, top: 0 })
  for (const ratio of ['1:1', '4:5', '16:9', '1.91:1'] as const)
    for (const [w, h] of [
      [1, 1],
      [3000, 10],
      [10, 3000],
      [641, 399],
    ] as const) {
      const cut = cutOf(w, h, ratio, 1.35, 1, 1)
      expect([cut.left >= 0, cut.top >= 0, cut.left + cut.width <= w, cut.top + cut.height <= h]).toEqual([
        true,
        true,
        true,
        true,
      ])
    }
})
