import { expect, test } from 'vitest'
import { asked, isChosen, isPlain, keptOf, newsSearch, searchOf } from './news'

test('a URL is parsed as far as it is valid', () => {
  expect(
    newsSearch({
      q: 2026,
      domain: 'a.example',
      section: ['Sport', '', 'Sport', 7],
      mode: 'magic',
      since: 'toString',
      from: '2026-13-01',
      to: '2026-12-01',
      sort: 'time',
      x: 1,
    }),
  ).toEqual({
    q: '2026',
    domain: ['a.example'],
    section: ['Sport', '7'],
    mode: undefined,
    since: undefined,
    from: undefined,
    to: '2026-12-01',
    sort: 'time',
    language: undefined,
    author: undefined,
    tag: undefined,
  })
})

test('days are those of the workspace, and the last one is included', () => {
  expect(
    asked({ q: 'gia vang', from: '2026-11-01', to: '2026-11-02', author: ['Mai, Lan'] }, 'Asia/Ho_Chi_Minh', 0),
  ).toEqual({
    q: 'gia vang',
    author: ['Mai, Lan'],
    from: '2026-10-31T17:00:00.000Z',
    to: '2026-11-02T17:00:00.000Z',
  })
  expect(asked({ since: 'week' }, 'UTC', Date.parse('2026-11-08T00:00:00Z'))).toEqual({
    from: '2026-11-01T00:00:00.000Z',
  })
})

test('all articles, or all of one domain, are listed; other queries are searches', () => {
  expect([{}, { q: ' ' }, { domain: ['a'] }, { from: '2026-01-01' }].map((s) => isPlain(s))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([{ q: 'a' }, { domain: ['a', 'b'] }, { section: ['Sport'] }, { tag: ['x'] }].map((s) => isPlain(s))).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect([isChosen({ q: 'a', sort: 'time' }), isChosen({ since: 'day' })]).toEqual([false, true])
})

test('a saved search round-trips', () => {
  const kept = { query: 'giá vàng', domains: ['a.example'], sections: [], languages: ['vi'], authors: [], tags: [] }
  const stored = {
    ...kept,
    id: '',
    name: 'Gold',
    mode: 'keyword' as const,
    alert: true,
    feed: false,
    alert_count: 0,
    version: 1,
    created_at: '',
    updated_at: '',
  }
  expect(keptOf(searchOf(stored))).toEqual(kept)
})
