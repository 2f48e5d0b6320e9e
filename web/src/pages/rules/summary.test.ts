import i18next from 'i18next'
import { beforeAll, expect, test } from 'vitest'
import en from '../../i18n/en.json'
import vi from '../../i18n/vi.json'
import { type Definition, newRule } from './definition'
import { summaryOf } from './summary'

beforeAll(() => i18next.init({ lng: 'en', resources: { en: { translation: en }, vi: { translation: vi } } }))

const names = {
  account: (id: string) => ({ desk: '@desk', page: 'Báo Mới' })[id],
  group: (id: string) => ({ sport: 'Ban thể thao' })[id],
  search: (id: string) => ({ gold: 'Giá vàng' })[id],
}
const at = (change: Partial<Definition>): Definition => ({ ...newRule('Asia/Ho_Chi_Minh').definition, ...change })
const says = (d: Definition) =>
  ['en', 'vi'].map((language) => summaryOf(d, names, i18next.getFixedT(language), language))

test.each<[Definition, string, string]>([
  [
    at({
      trigger: { sections: ['Thể thao'] },
      account_ids: ['desk'],
      timing: { when: 'delay', delay_minutes: 30 },
      mode: 'approval',
    }),
    'Thể thao → @desk, 30 minutes later, for approval',
    'Thể thao → @desk, sau 30 phút, gửi duyệt',
  ],
  [
    at({ trigger: { own_sites: true }, account_ids: ['desk', 'page'], timing: { when: 'now' }, mode: 'automatic' }),
    'New articles on your own sites → @desk and Báo Mới, at once, published automatically',
    'Bài mới trên trang của tòa soạn → @desk và Báo Mới, ngay lập tức, tự động đăng',
  ],
  [
    at({
      trigger: { trending: { min_views: 1500, hours: 2 }, tags: ['SEA Games'] },
      group_id: 'sport',
      timing: { when: 'next_free' },
      mode: 'draft',
    }),
    '#SEA Games, with 1,500 views in 2 hours → the group Ban thể thao, in the next free slot, as a draft',
    '#SEA Games, đạt 1.500 lượt xem trong 2 giờ → nhóm Ban thể thao, vào khung giờ trống tiếp theo, lưu nháp',
  ],
  [
    at({
      trigger: { evergreen: { min_views: 200, days: 7, min_age_days: 30, repeat_days: 30 }, saved_search_id: 'gold' },
      account_ids: ['gone'],
      timing: { when: 'now', hours: { from: '07:00', to: '22:00', weekdays: [], time_zone: 'UTC' } },
    }),
    '“Giá vàng”, older articles with 200 views in 7 days → an account that was removed, at once, between 07:00 and 22:00, as a draft',
    '“Giá vàng”, bài cũ đạt 200 lượt xem trong 7 ngày → tài khoản đã gỡ, ngay lập tức, từ 07:00 đến 22:00, lưu nháp',
  ],
  [
    at({
      trigger: { domains: ['vnexpress.net', 'tuoitre.vn'], authors: ['Lan'] },
      timing: { when: 'delay', delay_minutes: 1440 },
    }),
    'Lan, vnexpress.net, and tuoitre.vn → no account chosen, 1 day later, as a draft',
    'Lan, vnexpress.net và tuoitre.vn → chưa chọn tài khoản, sau 1 ngày, lưu nháp',
  ],
  [
    at({
      trigger: { domains: ['tuoitre.vn'], own_sites: true },
      conditions: { max_age_hours: 24, languages: ['vi', 'en'] },
      account_ids: ['desk'],
      timing: { when: 'now' },
    }),
    'tuoitre.vn, on your own sites, in vi and en → @desk, at once, as a draft',
    'tuoitre.vn, trên trang của tòa soạn, ngôn ngữ vi và en → @desk, ngay lập tức, lưu nháp',
  ],
])('one sentence says what a rule does, in both languages', (definition, english, vietnamese) => {
  expect(says(definition)).toEqual([english, vietnamese])
})
