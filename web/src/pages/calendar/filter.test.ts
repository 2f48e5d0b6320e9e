import { expect, test } from 'vitest'
import type { Post } from '../../api/client'
import { asked, foldSeries, statusesOf, wanted } from './filter'

const post = (id: string, status: string, approval?: string, series?: string) =>
  ({
    id,
    status,
    targets: [],
    series_id: series,
    ...(approval ? { approval: { state: approval } } : {}),
  }) as unknown as Post

test.each([
  ['scheduled', { status: ['scheduled'] }],
  ['failed,canceled', { status: ['failed', 'canceled'] }],
  ['pending', { approval: ['pending'] }],
  ['pending,rejected', { approval: ['pending', 'rejected'] }],
  ['pending,scheduled', { status: ['scheduled', 'draft'] }],
  ['uncertain', { status: ['publishing', 'partly_posted', 'failed'] }],
  ['nonsense', {}],
])('the status %s is asked for as %j', (status, want) => {
  expect(asked({ status })).toEqual(want)
})

test('several statuses show posts with one of them, and a draft that waits is no draft', () => {
  const all = [post('a', 'draft'), post('b', 'draft', 'pending'), post('c', 'scheduled'), post('d', 'failed')]
  const ids = (status: string) => all.filter(wanted({ status })).map((p) => p.id)
  expect(ids('pending,scheduled')).toEqual(['b', 'c'])
  expect(ids('draft')).toEqual(['a'])
  expect(ids('failed,draft')).toEqual(['a', 'd'])
  expect(all.filter(wanted({}))).toHaveLength(4)
})

test('a post with an uncertain account is uncertain, not being published', () => {
  const lost = { ...post('a', 'publishing'), targets: [{ status: 'posted' }, { status: 'uncertain' }] } as Post
  const all = [lost, post('b', 'publishing'), post('c', 'failed')]
  const ids = (status: string) => all.filter(wanted({ status })).map((p) => p.id)
  expect(ids('uncertain')).toEqual(['a'])
  expect(ids('publishing')).toEqual(['b'])
})

test('the address lists statuses in any order', () => {
  expect(statusesOf({ status: 'failed,draft' })).toEqual(['draft', 'failed'])
})

test('a series is folded to its first post', () => {
  const all = [post('1', 'scheduled', undefined, 's'), post('2', 'scheduled'), post('3', 'scheduled', undefined, 's')]
  const { posts, more } = foldSeries([
    ...all,
    post('4', 'scheduled', undefined, 's'),
    post('5', 'scheduled', undefined, 'u'),
  ])
  expect(posts.map((p) => p.id)).toEqual(['1', '2', '5'])
  expect([...more]).toEqual([['1', 2]])
})
