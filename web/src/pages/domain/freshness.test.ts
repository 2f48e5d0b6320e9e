import { expect, test } from 'vitest'
import { freshness } from './freshness'

const article = (published_at: string | undefined, first_seen_at: string, date_only = false) => ({ published_at, first_seen_at, date_only })

test('what came out before the site was crawled says nothing of how soon it is found', () => {
  const since = '2026-11-20T00:00:00Z'
  const found = [
    article('2026-11-20T10:00:00Z', '2026-11-20T10:03:00Z'),
    article('2026-11-20T11:00:00Z', '2026-11-20T11:30:00Z'),
    article('2026-11-20T12:00:00Z', '2026-11-20T12:05:00Z'),
    article('2020-01-01T00:00:00Z', '2026-11-20T12:05:00Z'),
    article('2026-11-20T00:00:00Z', '2026-11-20T20:00:00Z', true),
    article(undefined, '2026-11-20T20:00:00Z'),
  ]
  expect(freshness(found, since)).toBe(5 * 60_000)
  expect(freshness(found.slice(0, 2), since)).toBeUndefined()
})
