import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { IconLock, IconUsersGroup } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { LinkButton } from '../../components/links'
import { Page } from '../../components/Page'
import { Empty, Failed, Waiting } from '../../components/states'
import { accountsQuery, groupsQuery, postQuery } from '../../lib/queries'
import { useAtLeast } from '../../lib/session'
import { waits } from './draft'
import { Editor } from './Editor'

const route = getRouteApi('/compose')

/** The composer: for a new post, or with an id in the URL for a stored one. */
export function ComposePage() {
  const { t } = useTranslation()
  const { id, at, queue, repeat } = route.useSearch()
  const navigate = useNavigate()
  const accounts = useQuery(accountsQuery)
  const groups = useQuery(groupsQuery)
  // The editor of a new post stays mounted when the post gets its id; the next new post has its own editor.
  const [own, setOwn] = useState({ id: '', key: 0 })
  const [was, setWas] = useState(id)
  if (was !== id) {
    setWas(id)
    if (id === undefined) setOwn({ id: '', key: own.key + 1 })
  }
  const continues = id !== undefined && id === own.id
  const stored = useQuery({
    ...postQuery(id ?? ''),
    enabled: id !== undefined && !continues,
    staleTime: 0,
    refetchOnWindowFocus: false,
  })
  const key = continues || id === undefined ? `new ${own.key}` : id

  if (!useAtLeast('author'))
    return (
      <Page title={t('compose.title')}>
        <Empty icon={IconLock} title={t('state.forbidden')} text={t('state.forbiddenText')} />
      </Page>
    )
  const failed = accounts.error ?? stored.error
  if (failed) return <Failed error={failed} retry={() => void accounts.refetch().then(() => stored.refetch())} />
  if (!accounts.data || groups.isPending || (id !== undefined && !continues && !stored.data)) return <Waiting />
  if (accounts.data.length === 0)
    return (
      <Page title={t('compose.title')}>
        <Empty icon={IconUsersGroup} title={t('compose.noAccounts')} text={t('compose.noAccountsText')}>
          <LinkButton to="/accounts">{t('accounts.connect')}</LinkButton>
        </Empty>
      </Page>
    )
  const post = continues ? undefined : stored.data
  if (
    id !== undefined &&
    post &&
    !['draft', 'scheduled', 'failed', 'partly_posted'].includes(post.status) &&
    !waits(post)
  )
    return <Navigate to="/posts/$id" params={{ id }} replace />
  return (
    <Editor
      key={key}
      post={id === undefined ? undefined : post}
      at={at}
      repeat={repeat}
      accounts={accounts.data}
      groups={groups.data ?? []}
      queue={queue}
      created={(made) => {
        setOwn((all) => ({ ...all, id: made.id }))
        void navigate({ to: '/compose', search: { id: made.id }, replace: true, resetScroll: false })
      }}
    />
  )
}
