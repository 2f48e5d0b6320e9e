import { expect, test, vi } from 'vitest'
import type { Target } from '../api/client'
import { outcomeOf } from './outcome'

vi.mock('../boot', () => ({ base: '' }))

const targets = (...all: Target['status'][]) => all.map((status, i) => ({ id: `${i}`, status })) as Target[]

test.each([
  [['failed'], 0, 1],
  [['posted', 'failed'], 1, 1],
  [['posted', 'uncertain'], 1, 1],
  [['posted', 'canceled'], 1, 0],
] as [Target['status'][], number, number][])('the outcome of %j', (all, posted, refused) => {
  const found = outcomeOf(targets(...all))
  expect([found?.posted.length, found?.refused.length]).toEqual([posted, refused])
})

test.each([['publishing'], ['scheduled']] as Target['status'][][])('%s is no outcome yet', (status) => {
  expect(outcomeOf(targets('posted', status as Target['status']))).toBeUndefined()
})
