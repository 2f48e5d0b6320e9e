import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { firstFiles } from '../../scripts/first.ts'
import { firstKeys } from '../../scripts/texts.ts'
import english from './en.json'

test('what is shown before a page is loaded has its texts', () => {
  const files = [...firstFiles()]
  // Others speak after an action on a page, such as notifications.
  const shown = files.filter((f) => /components\/\w+\.tsx$/.test(f))
  expect(shown.map((f) => f.replace(/.*\//, ''))).toContain('Shell.tsx')
  for (const file of shown)
    for (const [, key = ''] of readFileSync(file, 'utf8').matchAll(/\bt\(\s*['"`](\w+)/g))
      expect(firstKeys, file).toContain(key)
  expect(firstKeys.filter((key) => !(key in english))).toEqual([])
})
