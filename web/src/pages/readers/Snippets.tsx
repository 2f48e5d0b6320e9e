import { Code, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { Copy } from '../../components/Copy'
import { base } from '../../boot'
import { Modal } from '../../components/Modal'

type Site = Schemas['Site']

const here = () => location.origin + base

function Snippet({ title, text, code, children }: { title: string; text: string; code: string; children?: ReactNode }) {
  return (
    <Stack gap={6}>
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {children}
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {code}
      </Code>
      <Copy value={code} style={{ alignSelf: 'flex-start' }} />
    </Stack>
  )
}

export function TrackerSnippet({ site }: { site: Site }) {
  const { t } = useTranslation()
  return (
    <Snippet
      title={t('readers.tracker')}
      text={t('readers.trackerText')}
      code={`<script defer src="${here()}/v1/d.js" data-site="${site.write_key}"></script>`}
    />
  )
}

/** The code for the pages of a site. */
export function Snippets({ site, close }: { site: Site; close: () => void }) {
  const { t, i18n } = useTranslation()
  const [page, setPage] = useState('/')
  const query = `site=${site.write_key}&page=${encodeURIComponent(page || '/')}`
  const badge = i18n.language === 'vi' ? `${query}&lang=vi` : query
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={t('readers.snippets')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack gap="lg">
        <TrackerSnippet site={site} />
        {site.public_counts ? (
          <>
            <TextInput
              label={t('readers.ofPage')}
              description={t('readers.ofPageText')}
              value={page}
              onChange={(e) => setPage(e.currentTarget.value)}
            />
            <Snippet
              title={t('readers.badge')}
              text={t('readers.badgeText')}
              code={`<img alt="" src="${here()}/v1/badge.svg?${badge.replaceAll('&', '&amp;')}">`}
            >
              <img
                src={`${base}/v1/badge.svg?${badge}`}
                alt={t('readers.badge')}
                height={20}
                style={{ alignSelf: 'flex-start' }}
              />
            </Snippet>
            <Snippet
              title={t('readers.count')}
              text={t('readers.countText')}
              code={`<script async src="${here()}/v1/count.js?${query.replace('&', '&amp;')}"></script>`}
            />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {t('readers.notPublic')}
          </Text>
        )}
      </Stack>
    </Modal>
  )
}
