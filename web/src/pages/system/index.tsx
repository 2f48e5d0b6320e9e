import { Tabs } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Page } from '../../components/Page'
import { useAtLeast } from '../../lib/session'
import { Audit } from './Audit'
import { Health } from './Health'
import { Members } from './Members'
import { Tokens } from './Tokens'
import { Webhooks } from './Webhooks'

/** What runs, who may do what, and who did what. */
export function SystemPage() {
  const { t } = useTranslation()
  const editor = useAtLeast('editor')
  return (
    <Page title={t('system.title')}>
      <Tabs defaultValue="health" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="health">{t('system.health')}</Tabs.Tab>
          {editor && <Tabs.Tab value="members">{t('system.members')}</Tabs.Tab>}
          <Tabs.Tab value="tokens">{t('system.tokens')}</Tabs.Tab>
          {editor && <Tabs.Tab value="webhooks">{t('system.webhooks')}</Tabs.Tab>}
          {editor && <Tabs.Tab value="audit">{t('system.audit')}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="health">
          <Health />
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
