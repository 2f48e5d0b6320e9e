import { expect, test } from 'vitest'
import type { Post } from '../../api/client'
import {
  contentOf,
  copyOf,
  draftOf,
  editOf,
  isAhead,
  newDraft,
  partsOf,
  templateOf,
  withMediaToo,
  withOwnMedia,
  withParts,
} from './draft'

const post = {
  id: 'p',
  status: 'draft',
  content: 'One',
  attachments: ['m'],
  thread: [{ content: 'Two', attachments: [] }],
  time_zone: 'Asia/Ho_Chi_Minh',
  scheduled_time: '2026-12-24T18:00:00+07:00',
  version: 3,
  retry_count: 0,
  created_at: '',
  updated_at: '',
  workflow_id: '',
  targets: [
    {
      id: 't',
      account_id: 'a',
      network: 'x',
      handle: '@a',
      status: 'scheduled',
      attempts: 0,
      override: { content: 'Short' },
    },
    { id: 'u', account_id: 'b', network: 'mastodon', handle: '@b', status: 'scheduled', attempts: 0 },
  ],
} as Post

test('the own thread of a version has no wait before the first segment', () => {
  const d = {
    ...newDraft(['a'], 'UTC'),
    parts: [
      { content: 'One', attachments: [], after_minutes: 5 },
      { content: 'Two', attachments: [], after_minutes: 10 },
    ],
  }
  expect(copyOf(d)).toEqual({
    content: 'One',
    attachments: [],
    thread: [{ content: 'Two', attachments: [], after_minutes: 10 }],
  })
  expect(contentOf(d)).toMatchObject({ content: 'One', thread: [{ content: 'Two', after_minutes: 10 }] })
})

test('a stored post round-trips', () => {
  const d = draftOf(post)
  expect(d.when).toBe('2026-12-24T18:00')
  expect(d.versions).toEqual({ a: { content: 'Short' } })
  expect(partsOf(d, 'a')).toEqual([
    { content: 'Short', attachments: ['m'] },
    { content: 'Two', attachments: [] },
  ])
  expect(contentOf(d)).toEqual({
    content: 'One',
    attachments: ['m'],
    thread: [{ content: 'Two', attachments: [] }],
    accounts: ['a', 'b'],
    track_links: false,
    utm: {},
    drop_if_late_minutes: 0,
    language: '',
    time_zone: 'Asia/Ho_Chi_Minh',
    options: {},
    overrides: { a: { content: 'Short' } },
  })
})

test('removed versions are sent as null, and so are those of removed accounts', () => {
  const d = { ...draftOf(post), versions: {} }
  expect(editOf(d, ['a']).overrides).toEqual({ a: null })
  expect(editOf({ ...draftOf(post), accounts: ['b'] }, ['a']).overrides).toEqual({ a: null })
})

test('a time is in the future by its own zone', () => {
  const d = newDraft([], 'Asia/Ho_Chi_Minh', '2026-12-24T18:00')
  expect(isAhead(d, Date.parse('2026-12-24T10:59:00Z'))).toBe(true)
  expect(isAhead(d, Date.parse('2026-12-24T11:00:00Z'))).toBe(false)
  expect(isAhead({ ...d, when: '' })).toBe(false)
})

test('a series uses the content and not the time', () => {
  const template = templateOf({ ...draftOf(post), dropIfLate: 30 })
  expect(Object.keys(template)).not.toContain('time_zone')
  expect(template).toMatchObject({
    content: 'One',
    thread: [{ content: 'Two' }],
    accounts: ['a', 'b'],
    drop_if_late_minutes: 30,
  })
})

test('a version has no media, its own or inherited ones, also after the post got media', () => {
  const written = {
    ...newDraft(['none', 'own', 'inherit'], 'UTC'),
    parts: [{ content: 'One', attachments: [] as string[] }],
  }
  const versions = {
    none: { ...copyOf(written), content: 'None' },
    own: { ...copyOf(written), attachments: ['o'] },
    inherit: { content: 'Inherit' },
  }
  const later = { ...written, versions, parts: [{ content: 'One', attachments: ['m'] }] }
  expect(['none', 'own', 'inherit'].map((id) => partsOf(later, id)[0]?.attachments)).toEqual([[], ['o'], ['m']])
  expect(contentOf(later).overrides).toEqual({
    none: { content: 'None', attachments: [], thread: [] },
    own: { content: 'One', attachments: ['o'], thread: [] },
    inherit: { content: 'Inherit' },
  })
  expect(withOwnMedia(later, 0)).toEqual(['none', 'own'])
  expect(withOwnMedia({ ...later, accounts: ['own'] }, 0)).toEqual(['own'])
})

test('media of the post are added to versions on request', () => {
  const d = {
    ...newDraft(['a', 'b'], 'UTC'),
    parts: [
      { content: '', attachments: ['m', 'n'] },
      { content: 'Two', attachments: ['m'] },
    ],
    versions: {
      a: { attachments: ['n'], thread: [{ content: 'Own', attachments: [] }] },
      b: { attachments: [], thread: [] },
    },
  }
  expect(withMediaToo(d, ['a', 'b'], 0, ['m', 'n']).versions).toMatchObject({
    a: { attachments: ['n', 'm'] },
    b: { attachments: ['m', 'n'] },
  })
  expect(withOwnMedia(d, 1)).toEqual(['a']) // the other has no second segment
  expect(withMediaToo(d, ['a'], 1, ['m']).versions.a?.thread).toEqual([{ content: 'Own', attachments: ['m'] }])
})

test('changing the text of a version keeps its inherited media and thread', () => {
  const d = {
    ...newDraft(['a'], 'UTC'),
    parts: [
      { content: 'One', attachments: ['m'] },
      { content: 'Two', attachments: [] },
    ],
    versions: { a: { content: 'Short' } },
  }
  expect(withParts(d, 'a', ([first, ...rest]) => [{ ...first!, content: 'Shorter' }, ...rest]).versions).toEqual({
    a: { content: 'Shorter' },
  })
  expect(withParts(d, 'a', ([first, ...rest]) => [{ ...first!, attachments: [] }, ...rest]).versions).toEqual({
    a: { content: 'Short', attachments: [] },
  })
})
