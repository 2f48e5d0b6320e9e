import { ActionIcon, Group, Stack, Text, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Ago } from '../../components/Ago'
import { useAct } from '../../lib/act'
import { useAtLeast } from '../../lib/session'
import { showMarks } from './useMark'

/** What editors marked on the pages of a site. */
export function Marks({ domain, marks }: { domain: string; marks: Schemas['ExtractionMark'][] }) {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const client = useQueryClient()
  const remove = useAct({
    send: (mark: string) =>
      unwrap(api.DELETE('/api/v1/domains/{domain}/extraction/marks/{mark}', { params: { path: { domain, mark } } })),
    accepted: (now) => showMarks(client, now),
    done: () => t('extraction.unmarked'),
  })
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('extraction.marks')}>
      <Title order={2} size="h4">
        {t('extraction.marks')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('extraction.marksText')}
      </Text>
      {marks.map((m) => (
        <Group key={m.id} wrap="nowrap" align="flex-start" gap="xs" data-mark={m.id}>
          <div style={{ flex: 1, minWidth: 0 }}>
            <Text size="sm" className="dl-text" ff={m.element ? 'monospace' : undefined} data-user-text>
              {m.element ?? m.text}
            </Text>
            <Text size="xs" c="dimmed">
              {t(m.is_body ? 'extraction.isText' : 'extraction.isNoText')} · <Ago at={m.created_at} />
            </Text>
          </div>
          {may && (
            <ActionIcon
              variant="subtle"
              color="gray"
              loading={remove.isPending && remove.variables === m.id}
              aria-label={t('extraction.unmark', { text: (m.element ?? m.text ?? '').slice(0, 40) })}
              onClick={() => remove.mutate(m.id)}
            >
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
    </Stack>
  )
}
