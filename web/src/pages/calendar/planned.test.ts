import { expect, test } from 'vitest'
import type { Post, Schemas } from '../../api/client'
import { plannedBetween } from './planned'

const series = (more: Partial<Schemas['Series']>) =>
  ({
    id: 's',
    status: 'active',
    rule: 'FREQ=DAILY',
    starts: '2026-12-01T07:00:00',
    time_zone: 'Asia/Ho_Chi_Minh',
    skipped: [],
    ...more,
  }) as Schemas['Series']
const from = new Date('2026-12-10T00:00:00Z')
const to = new Date('2026-12-13T00:00:00Z')
const now = Date.parse('2026-12-05T00:00:00Z')
const when = (all: Schemas['Series'][], posts: Post[] = [], at = now) =>
  plannedBetween(all, posts, from, to, at).map((p) => p.at.toISOString())

test('occurrences are shown unless they are posts already or skipped', () => {
  expect(when([series({})])).toEqual([
    '2026-12-10T00:00:00.000Z',
    '2026-12-11T00:00:00.000Z',
    '2026-12-12T00:00:00.000Z',
  ])
  expect(
    when(
      [series({ skipped: ['2026-12-11T07:00:00'] })],
      [{ series_id: 's', occurrence: '2026-12-10T07:00:00' } as Post],
    ),
  ).toEqual(['2026-12-12T00:00:00.000Z'])
})

test('nothing is planned in the past, nor for a paused series', () => {
  expect(when([series({})], [], Date.parse('2026-12-11T12:00:00Z'))).toEqual(['2026-12-12T00:00:00.000Z'])
  expect(when([series({ status: 'paused' })])).toEqual([])
})
