import { expect, test } from 'vitest'
import { hashtagLines, readHashtagLines } from './definition'

test('hashtags are edited as lines', () => {
  expect(readHashtagLines('Sports: #Sports #Goal\n\n World:#World\nBusiness')).toEqual({
    Sports: '#Sports #Goal',
    World: '#World',
    Business: '',
  })
  expect(hashtagLines({ Sports: '#Sports', World: '#World' })).toBe('Sports: #Sports\nWorld: #World')
  expect(readHashtagLines(hashtagLines({ Sports: '#Sports' }))).toEqual({ Sports: '#Sports' })
})
