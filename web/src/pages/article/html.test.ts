import { expect, test } from 'vitest'
import { type Piece, pictures, read } from './html'

const words = (pieces: Piece[]): string => pieces.map((p) => (typeof p === 'string' ? p : words(p.children))).join('')
const tags = (pieces: Piece[]): string[] =>
  pieces.flatMap((p) => (typeof p === 'string' ? [] : [p.tag, ...tags(p.children)]))

test('allowed HTML is parsed unchanged', () => {
  expect(
    read(
      '<p>Giá &#34;vàng&#34; &amp; bạc<br>tăng</p>\n<a href="https://a.example/?x=1&amp;y=2" rel="nofollow noopener">Nguồn</a>',
    ),
  ).toEqual([
    { tag: 'p', children: ['Giá "vàng" & bạc', { tag: 'br', children: [] }, 'tăng'] },
    '\n',
    { tag: 'a', address: 'https://a.example/?x=1&y=2', children: ['Nguồn'] },
  ])
  expect(read('<table>\n<tr>\n<td>Ô</td>\n</tr>\n</table>')).toEqual([
    { tag: 'table', children: [{ tag: 'tr', children: [{ tag: 'td', children: ['Ô'] }] }] },
  ])
  expect(
    pictures(
      read('<figure><img src="https://a.example/b.jpg" alt="Sông"></figure><img src="data:image/png;base64,AA">'),
    ),
  ).toEqual([{ tag: 'img', address: 'https://a.example/b.jpg', alt: 'Sông', children: [] }])
})

test('harmful content is removed, however it is written', () => {
  for (const html of [
    '<script>bad()</script>',
    '<SCRIPT src=x>bad()</SCRIPT >',
    '<style>bad</style>',
    '<iframe src="https://x.example/">bad</iframe>',
    '<svg onload="bad()"><p>bad</p></svg>',
    '<script>bad(',
    '<!-- bad -->',
    '<!-- bad',
  ])
    expect(words(read(`a${html}`))).toBe('a')
  for (const href of [
    'javascript:bad()',
    ' JAVASCRIPT:bad()',
    'java\nscript:bad()',
    '&#106;avascript:bad()',
    'data:text/html,bad',
    '//x.example/',
    '/relative',
    'vbscript:x',
  ])
    expect(tags(read(`<a href="${href}">a</a>`))).toEqual([])
  expect(read('<p onclick="bad()" style="bad" class=bad>a</p>')).toEqual([{ tag: 'p', children: ['a'] }])
  expect(
    tags(
      read(
        '<form action="https://x.example/"><input autofocus><p>a</p></form><base href="https://x.example/"><link rel=stylesheet href=x><meta http-equiv=refresh content=0>',
      ),
    ),
  ).toEqual(['p'])
  expect(read('<a href="https://a.example/"><a href="https://b.example/">b</a></a>')).toEqual([
    { tag: 'a', address: 'https://a.example/', children: ['b'] },
  ])
})

test('anything that is not a tag is text', () => {
  expect(words(read('1 < 2 && 3 > 2, <3, &unknown; &#0; &#xD800; &constructor;'))).toBe(
    '1 < 2 && 3 > 2, <3, &unknown; &#0; &#xD800; &constructor;',
  )
  expect(words(read('&lt;script&gt;alert(1)&lt;/script&gt;'))).toBe('<script>alert(1)</script>')
  expect(tags(read('&lt;script&gt;'))).toEqual([])
})

test('any input results in allowed elements only, in bounded time', () => {
  let seed = 11
  const random = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  const parts = [
    '<',
    '>',
    '</',
    '/>',
    '"',
    "'",
    '=',
    ' ',
    'p',
    'a',
    'script',
    'href',
    'style',
    'img src=https://a.example/',
    '<p>',
    '</p>',
    '<table>',
    '&lt;',
    '&#60;',
    '<!--',
    '-->',
    'ô',
    '\n',
    '\0',
    'onclick=x',
    '<svg>',
    '</svg>',
  ]
  const shown = new Set(['p', 'a', 'img', 'table'])
  for (let round = 0; round < 2000; round++) {
    const html = Array.from({ length: random(40) }, () => parts[random(parts.length)]).join('')
    const pieces = read(html)
    for (const tag of tags(pieces)) expect([html, shown.has(tag)]).toEqual([html, true])
  }
  // Bounded in depth, and not longer than the text.
  const deep = read(`${'<b>'.repeat(100_000)}x`)
  expect(tags(deep).length).toBeLessThan(100)
  expect(words(read('<'.repeat(100_000))).length).toBe(100_000)
  read(`<p ${'a '.repeat(100_000)}`)
  read('<script>'.repeat(10_000))
})
