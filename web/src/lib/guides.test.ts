import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guidePage, vietnamese } from './guides'

test('guides in Vietnamese exist, and others stay English', () => {
  for (const [english, translated] of Object.entries(vietnamese)) {
    expect(guidePage(english, 'vi')).toEqual([translated, 'vi'])
    expect(guidePage(english, 'en')).toEqual([english, 'en'])
    for (const page of [english, translated])
      expect(existsSync(new URL(`../../../docs/${page}.md`, import.meta.url)), page).toBe(true)
  }
  expect(guidePage('how-to/use-the-api', 'vi')).toEqual(['how-to/use-the-api', 'en'])
})
