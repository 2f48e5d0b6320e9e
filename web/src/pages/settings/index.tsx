import { Tabs } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Page } from '../../components/Page'
import { Sites } from './Sites'
import { Workspace } from './Workspace'

const route = getRouteApi('/settings')
const tabs = ['workspace', 'sites'] as const

/** The settings of the workspace and of its sites. */
export function SettingsPage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { tab } = route.useSearch()
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')}>
      <Tabs
        value={tabs.find((name) => name === tab) ?? 'workspace'}
        onChange={(name) =>
          void navigate({ to: '/settings', search: name === 'sites' ? { tab: name } : {}, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`settings.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="workspace">
          <Workspace />
        </Tabs.Panel>
        <Tabs.Panel value="sites">
          <Sites />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
