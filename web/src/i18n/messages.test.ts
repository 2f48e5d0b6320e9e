import { expect, test } from 'vitest'
import en from './en.json'
import messages from './messages/vi.json'
import vi from './vi.json'

function flat(o: object, prefix = ''): [string, string][] {
  return Object.entries(o).flatMap(([key, value]) =>
    typeof value === 'string' ? [[prefix + key, value] as [string, string]] : flat(value as object, `${prefix}${key}.`),
  )
}

// English has a form for one; Vietnamese does not (CLDR, plural rules).
const names = (o: object) =>
  new Set(
    flat(o)
      .map(([key]) => key)
      .filter((key) => !key.endsWith('_one')),
  )
const gaps = (text: string) => [...text.matchAll(/{{\s*(\w+)/g)].map((m) => m[1]).sort()

test('every message exists in every language', () => {
  expect([...names(vi)].sort()).toEqual([...names(en)].sort())
})

test('messages have the same placeholders in every language', () => {
  const english = new Map(flat(en))
  for (const [key, text] of flat(vi)) expect([key, gaps(text)]).toEqual([key, gaps(english.get(key) ?? '')])
})

// Words that mean the same are one word, see docs/reference/vietnamese.md; tones stand as in Meta's and Google's texts.
test('Vietnamese has one spelling and one word for each thing', () => {
  const all = [...flat(vi), ...flat(messages)]
  const wrong = [
    /(?<!q)(?:o[àáảãạèéẻẽẹ]|u[ỳýỷỹỵ])(?!\p{L})/iu,
    /bài đăng(?! (lên|trễ))/i,
    /tin bài/i,
    /tweet|click/i,
    /(người|bạn) đọc/i, // độc giả
    /đặt lịch|hẹn giờ/i, // lên lịch
    /phê duyệt/i, // duyệt
    /bài viết [^.]*xuất bản|được xuất bản/i, // a post: đăng; only an article of a site is xuất bản
    /bình chọn/i, // thăm dò
    /lượt (nhấn|bấm)|(?<!Nút )bấm/i, // nhấp
    /website/i, // trang web
    /e-mail|thư điện tử/i, // email
    /tạm ngưng/i, // tạm dừng
    /Thứ [2-7]/, // Thứ Hai, T2
    /\d %/,
  ]
  expect(
    all
      .flatMap(([key, text]) => wrong.map((one) => [key, one.exec(text)?.[0]]))
      .filter(([, found]) => found !== undefined),
  ).toEqual([])
})

test('no message is empty', () => {
  for (const [key, text] of [...flat(en), ...flat(vi)]) expect([key, text.trim() !== '']).toEqual([key, true])
})
