import i18n from 'i18next'
import { beforeAll, expect, test } from 'vitest'
import { formatWall } from '../lib/time'
import {
  alertText,
  causeText,
  fill,
  formatBytes,
  formatMilliseconds,
  formatPrice,
  formatSeconds,
  noteText,
  problemText,
  timelineText,
  warningText,
} from './message'
import en from './messages/en.json'
import vi from './messages/vi.json'
import viTexts from './vi.json'

beforeAll(async () => {
  await i18n.init({
    lng: 'vi',
    fallbackLng: false,
    resources: { vi: { translation: viTexts, messages: vi }, en: { messages: en } },
    interpolation: { escapeValue: false },
  })
})

test('a part in brackets is omitted without its values', () => {
  const values: Record<string, string> = { handle: '@desk', count: '2' }
  const text = (template: string) => fill(template, (name) => values[name])
  expect(text('Posted to {handle}[ as {url}][ for {count|account|accounts}].')).toBe('Posted to @desk for 2 accounts.')
  expect(text('Posted to {url}.')).toBeUndefined()
})

test('times, durations and sizes are written as in Vietnamese', () => {
  const year = new Date().getUTCFullYear()
  expect(formatWall(`${year}-11-22T23:41:00+07:00`, 'vi')).toBe('23:41, 22/11')
  expect(formatWall('2019-11-22T23:41:00+07:00', 'vi')).toBe('23:41, 22/11/2019')
  expect(formatWall('2026-11-22T23:41:05.012+07:00', 'vi', '2026-11-22')).toBe('23:41:05,012')
  expect(formatSeconds(80.3, 'vi')).toBe('80,3 giây')
  expect(formatSeconds(300, 'vi')).toBe('5 phút')
  expect(formatBytes(1_440_000, 'vi')).toBe('1,4 MB')
  expect(formatMilliseconds(12, 'vi')).toBe('12 ms')
  expect(formatMilliseconds(80_312, 'vi')).toBe('80,3 giây')
  expect(formatPrice(15_000, 'vi')).toBe('0,015\u00a0US$')
})

test('messages of the API are translated', () => {
  expect(
    warningText({ code: 'no_alt_text', params: { images: 2 }, message: '2 images have no alternative text.' }),
  ).toBe('2 hình ảnh chưa có văn bản thay thế.')
  expect(
    problemText({
      code: 'too_long',
      field: 'thread[0].content',
      params: { used: 501, by: 'social.example', limit: 500 },
      message: '…',
    }),
  ).toBe('Nội dung có 501 ký tự; social.example cho phép 500. Hãy rút gọn.')
  expect(problemText({ code: 'required', field: 'accounts', message: '…' })).toBe('Hãy chọn ít nhất một tài khoản.')
  expect(problemText({ code: 'no_such_code', message: 'As it is.' })).toBe('As it is.')
  expect(alertText({ code: 'PostsLate', params: { posts: 3 }, message: '…' })).toMatch(/^3 bài đã trễ/)
  expect(causeText({ code: 'timeout', message: '…' })).toBe('Mạng không phản hồi trong thời gian cho phép.')
  expect(causeText({ code: 'http_422', message: "Validation failed: Text can't be blank" })).toBe(
    "Validation failed: Text can't be blank",
  )
})

test('entries of the timeline are translated with their values', () => {
  const at = '2026-11-22T23:41:00.000+07:00'
  const text = (code: string, params: Record<string, unknown>) => timelineText({ at, code, params, text: 'English.' })
  expect(text('posted', { handle: '@desk', late_seconds: 80.3, sent_at: '2026-11-22T23:42:20.300+07:00' })).toBe(
    'Đã đăng trên @desk, trễ 80,3 giây. Gửi lúc 23:42:20,300.',
  )
  expect(
    text('edited', { changes: ['content', 'scheduled_time'], scheduled_at: '2026-11-23T08:00:00.000+07:00' }),
  ).toBe('Đã chỉnh sửa: nội dung và thời gian đăng, nay là 08:00:00,000, 23/11.')
  expect(
    text('problem', {
      handle: '@desk',
      message: '512 characters…',
      message_code: 'too_long',
      message_params: { used: 512, by: 'X', limit: 280 },
    }),
  ).toBe('Phát hiện khi chuẩn bị cho @desk: Nội dung có 512 ký tự; X cho phép 280. Hãy rút gọn.')
  expect(text('waiting_for_network', { message: '…', message_code: 'network_slow' })).toMatch(
    /^Tạm hoãn trước khi gửi tới một tài khoản đã bị gỡ khỏi bài viết\. Mạng phản hồi quá chậm/,
  )
  expect(text('moved_to_mars', {})).toBe('English.')
})

test('notes about posts, prices, files and accounts are translated, and so is what a search found', () => {
  expect(noteText({ code: 'links_cost_more', message: '…' })).toBe('X tính phí cao hơn cho bài viết có liên kết.')
  expect(
    noteText({
      code: 'made_smaller',
      params: { width: 6000, height: 4000, new_width: 1920, new_height: 1280 },
      message: '…',
    }),
  ).toBe('Ảnh được thu nhỏ từ 6.000 × 4.000 xuống 1.920 × 1.280 điểm ảnh.')
  expect(noteText({ code: 'needs_reconnect', params: { answer: 'Token revoked.' }, message: '…' })).toMatch(
    /Phản hồi của mạng: Token revoked\.$/,
  )
  expect(noteText({ code: 'timeout', message: '…' })).toBe('Mạng không phản hồi trong thời gian cho phép.')
  const at = '2026-11-22T23:41:00.000+07:00'
  const evidence_parts = [
    {
      code: 'none_matches',
      params: { count: 40, since_at: `${new Date().getUTCFullYear()}-11-22T23:40:00+07:00` },
      message: '…',
    },
    { code: 'more_posts', message: '…' },
  ]
  expect(
    timelineText({
      at,
      code: 'reconciled.absent',
      params: { handle: '@desk', evidence: 'None of 40 posts…', evidence_parts },
      text: 'English.',
    }),
  ).toBe(
    'Đã tìm trên @desk và không thấy bài. Không bài nào trong 40 bài viết của tài khoản từ 23:40, 22/11 có cùng nội dung, tệp đính kèm và bài được trả lời. Có nhiều bài viết hơn mức có thể đọc.',
  )
})
