import { expect, test } from 'vitest'
import type { Post } from '../../api/client'
import { contentOf, draftOf, editOf, isAhead, newDraft, templateOf } from './draft'

const post = {
  id: 'p', status: 'draft', content: 'One', attachments: ['m'], thread: [{ content: 'Two', attachments: [] }], time_zone: 'Asia/Ho_Chi_Minh',
  scheduled_time: '2026-12-24T18:00:00+07:00', version: 3, retry_count: 0, created_at: '', updated_at: '', workflow_id: '',
  targets: [
    { id: 't', account_id: 'a', network: 'x', handle: '@a', status: 'scheduled', attempts: 0, override: { content: 'Short' } },
    { id: 'u', account_id: 'b', network: 'mastodon', handle: '@b', status: 'scheduled', attempts: 0 },
  ],
} as Post

test('a stored post comes back as it was', () => {
  const d = draftOf(post)
  expect(d.when).toBe('2026-12-24T18:00')
  expect(d.versions).toEqual({ a: [{ content: 'Short', attachments: ['m'] }, { content: 'Two', attachments: [] }] })
  expect(contentOf(d)).toEqual({
    content: 'One', attachments: ['m'], thread: [{ content: 'Two', attachments: [] }], accounts: ['a', 'b'], track_links: false, drop_if_late_minutes: 0, language: '', time_zone: 'Asia/Ho_Chi_Minh',
    overrides: { a: { content: 'Short', attachments: ['m'], thread: [{ content: 'Two', attachments: [] }] } },
  })
})

test('versions that are taken back are told, and those of accounts that are left out', () => {
  const d = { ...draftOf(post), versions: {} }
  expect(editOf(d, ['a']).overrides).toEqual({ a: null })
  expect(editOf({ ...draftOf(post), accounts: ['b'] }, ['a']).overrides).toEqual({ a: null })
})

test('a time is ahead by the clock of its zone', () => {
  const d = newDraft([], 'Asia/Ho_Chi_Minh', '2026-12-24T18:00')
  expect(isAhead(d, Date.parse('2026-12-24T10:59:00Z'))).toBe(true)
  expect(isAhead(d, Date.parse('2026-12-24T11:00:00Z'))).toBe(false)
  expect(isAhead({ ...d, when: '' })).toBe(false)
})

test('a series takes the words and not the time', () => {
  const template = templateOf({ ...draftOf(post), dropIfLate: 30 })
  expect(Object.keys(template)).not.toContain('time_zone')
  expect(template).toMatchObject({ content: 'One', thread: [{ content: 'Two' }], accounts: ['a', 'b'], drop_if_late_minutes: 30 })
})
