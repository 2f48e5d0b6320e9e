import { expect, test } from 'vitest'
import { decode, readSheet } from './csv'

const bytes = (...all: number[]) => new Uint8Array(all).buffer

test.each([
  ['Windows-1258, as Excel saves CSV', bytes(0x47, 0x69, 0xe1, 0x20, 0x76, 0xe0, 0x6e, 0x67), undefined],
  ['Windows-1252', bytes(0x63, 0x61, 0x66, 0xe9), undefined],
  ['UTF-8', new TextEncoder().encode('Giá vàng').buffer as ArrayBuffer, 'Giá vàng'],
  ['UTF-8 with a byte order mark', bytes(0xef, 0xbb, 0xbf, 0x61), 'a'],
  ['UTF-16, as Excel saves Unicode Text', bytes(0xff, 0xfe, 0xe0, 0x00), 'à'],
  ['UTF-16, big endian', bytes(0xfe, 0xff, 0x1e, 0xbf), 'ế'],
  ['nothing', bytes(), ''],
])('%s', (_name, file, want) => {
  expect(decode(file)).toBe(want)
})

test('rows are named by their line, and empty ones are skipped', () => {
  const sheet = readSheet('sep=;\r\ncontent;;draft\u00a0\r\n\r\n;;\r\n"a\r\nb";;true\r\nc,d;;\r\n')
  expect(sheet.columns).toEqual(['content', 'draft'])
  expect([...sheet.rows]).toEqual([
    [5, { content: 'a\r\nb', draft: 'true' }],
    [7, { content: 'c,d', draft: '' }],
  ])
})
