import { Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Dispatch, SetStateAction } from 'react'
import { useTranslation } from 'react-i18next'
import type { Account } from '../../api/client'
import { NetworkIcon } from '../../components/network'
import { mergeUtm, UtmFields, utmQuery } from '../../components/Utm'
import { labelsQuery, postQuery } from '../../lib/queries'
import type { Draft } from './draft'

/** The UTM parameters with which readers of the post's links arrive: for all accounts, and the result for each of them. */
export function TrackedLinks({
  draft,
  setDraft,
  accounts,
  post,
}: {
  draft: Draft
  setDraft: Dispatch<SetStateAction<Draft>>
  accounts: Account[]
  post?: string
}) {
  const { t } = useTranslation()
  const labels = useQuery(labelsQuery).data ?? []
  const ids = useQuery({ ...postQuery(post ?? ''), enabled: post !== undefined }).data?.labels ?? []
  const campaign = labels.find((l) => l.kind === 'campaign' && ids.includes(l.id))?.utm
  const results = accounts
    .map((a) => ({ account: a, query: utmQuery(mergeUtm(a.utm, campaign, draft.utm)) }))
    .filter(({ query }) => query !== '')
  return (
    <Stack gap={6}>
      <UtmFields
        label={t('utm.ofPost')}
        value={draft.utm}
        change={(utm) => setDraft((d) => ({ ...d, utm }))}
        defaults={mergeUtm(accounts.length === 1 ? accounts[0]?.utm : undefined, campaign)}
      />
      {results.map(({ account: a, query }) => (
        <Group key={a.id} gap={6} wrap="nowrap" align="flex-start" data-utm={a.network}>
          <NetworkIcon network={a.network} size={14} />
          <Text size="xs" c="dimmed" span>
            {a.label || a.handle}:
          </Text>
          <Code style={{ overflowWrap: 'anywhere' }}>?{query}</Code>
        </Group>
      ))}
    </Stack>
  )
}
