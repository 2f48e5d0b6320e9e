import { Tabs } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Page } from '../../components/Page'
import { useAtLeast } from '../../lib/session'
import { Audit } from './Audit'
import { Health } from './Health'
import { Members } from './Members'
import { Notifications } from './Notifications'
import { State } from './State'
import { Tokens } from './Tokens'
import { Webhooks } from './Webhooks'

const route = getRouteApi('/system')

/** The system's state, its members and tokens, and the audit log. */
export function SystemPage() {
  const { t } = useTranslation()
  const editor = useAtLeast('editor')
  const navigate = useNavigate()
  const { tab } = route.useSearch()
  const tabs = editor
    ? (['health', 'notifications', 'members', 'tokens', 'webhooks', 'audit'] as const)
    : (['health', 'notifications', 'tokens'] as const)
  const current = tabs.find((name) => name === tab) ?? 'health'
  return (
    <Page title={t('system.title')} lead={t('system.lead')}>
      <Tabs
        value={current}
        onChange={(name) =>
          void navigate({ to: '/system', search: name && name !== 'health' ? { tab: name } : {}, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`system.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="health">{editor ? <State /> : <Health />}</Tabs.Panel>
        <Tabs.Panel value="notifications">
          <Notifications />
        </Tabs.Panel>
        <Tabs.Panel value="members">
          <Members />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <Tokens />
        </Tabs.Panel>
        <Tabs.Panel value="webhooks">
          <Webhooks />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <Audit />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
