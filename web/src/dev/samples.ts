import type { Schemas } from '../api/client'
import { accountsQuery, groupsQuery, labelsQuery } from '../lib/queries'
import type { Me } from '../lib/session'

const workspace = { id: '1', name: 'Báo Mai', time_zone: 'Asia/Ho_Chi_Minh' }
const user = { id: '1', name: 'Nguyễn Thị Lan', email: 'lan@news.example' }

export const zones = { rules: [{ zones: ['Asia/Ho_Chi_Minh'], offset: 25_200, changes: [] }] }

const me = {
  user,
  workspace: { ...workspace, authors_need_approval: false, keep_media_credit: false },
  role: 'owner',
  scopes: ['*'],
  session: { id: '1', user, workspace: { ...workspace, role: 'owner' }, workspaces: [{ ...workspace, role: 'owner' }] },
} as unknown as Me

export const labels = [
  { id: '1', name: 'Tết 2027', color: 'red', kind: 'campaign' },
  { id: '2', name: 'Thời sự', color: 'blue', kind: 'label' },
  { id: '3', name: 'Phóng sự điều tra: an toàn thực phẩm trong trường bán trú', color: 'teal', kind: 'label' },
] as unknown as Schemas['Label'][]

export const domain = {
  domain: 'news.example',
  status: 'idle',
  version: 1,
} as unknown as Schemas['Domain']

/** What the components would fetch, by the keys of their queries. */
export const samples: [key: readonly unknown[], data: unknown][] = [
  [['me'], me],
  [labelsQuery.queryKey, labels],
  [accountsQuery.queryKey, []],
  [groupsQuery.queryKey, []],
]
