import { expect, test } from 'vitest'
import { type Draft, newDraft } from './draft'
import { templateFrom, withTemplate } from './template'

const draft = (more: Partial<Draft>): Draft => ({ ...newDraft(['a', 'b'], 'UTC'), ...more })

test('a template keeps thread, accounts, versions and options, and no attachments', () => {
  const d = draft({
    parts: [
      { content: 'Bản tin', attachments: ['f'] },
      { content: 'Nguồn', attachments: ['g'], after_minutes: 5 },
    ],
    versions: {
      a: { content: 'Riêng', attachments: ['f'], thread: [{ content: 'Tiếp', attachments: ['g'] }] },
      b: { attachments: [] },
      gone: { content: 'x' },
    },
    options: { mastodon: { visibility: 'unlisted' } },
    trackLinks: true,
    when: '2031-03-06T09:00',
  })
  const { text, template } = templateFrom(d)
  expect(text).toBe('Bản tin')
  expect(template).toEqual({
    thread: [{ content: 'Nguồn', after_minutes: 5 }],
    options: { mastodon: { visibility: 'unlisted' } },
    overrides: { a: { content: 'Riêng', thread: [{ content: 'Tiếp' }] } },
    accounts: ['a', 'b'],
    track_links: true,
  })
  const made = withTemplate(newDraft(['b', 'c'], 'UTC'), text, template, ['a', 'b', 'c'], 0, 0)
  expect(made).toEqual(
    draft({
      parts: [
        { content: 'Bản tin', attachments: [] },
        { content: 'Nguồn', attachments: [], after_minutes: 5 },
      ],
      versions: { a: { content: 'Riêng', thread: [{ content: 'Tiếp', attachments: [] }] } },
      options: { mastodon: { visibility: 'unlisted' } },
      trackLinks: true,
    }),
  )
})

test('in a post with text a template adds to it, and accounts that cannot publish are left out', () => {
  const d = draft({
    parts: [{ content: 'Mưa lớn', attachments: ['f'] }],
    options: { x: { made_with_ai: true } },
    accounts: ['c'],
  })
  const made = withTemplate(
    d,
    '#bão',
    {
      accounts: ['a', 'off'],
      options: { mastodon: { sensitive: true } },
      overrides: { off: { content: 'x' } },
      thread: [{ content: 'Nguồn' }],
    },
    ['a', 'c'],
    0,
    7,
  )
  expect(made.parts).toEqual([
    { content: 'Mưa lớn #bão', attachments: ['f'] },
    { content: 'Nguồn', attachments: [] },
  ])
  expect(made.accounts).toEqual(['a'])
  expect(made.versions).toEqual({})
  expect(made.options).toEqual({ x: { made_with_ai: true }, mastodon: { sensitive: true } })
  expect(withTemplate(d, 'x', { accounts: ['off'] }, ['a', 'c'], 0, 0).accounts).toEqual(['c'])
})
