import { ActionIcon, Alert, Button, FileButton, Group, Select, Stack, Text } from '@mantine/core'
import { IconTrash, IconUpload } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { Failed } from '../../components/states'
import { Modal } from '../../components/Modal'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { formatTime } from '../../lib/time'
import { formatMetric } from './numbers'

type Source = Schemas['StatsImport']['source']

const sources: Record<Source, string> = {
  plausible: 'Plausible',
  goatcounter: 'GoatCounter',
  ga4: 'Google Analytics 4',
}

/** Imports the statistics of other products into a site's reports, and removes them. */
export function Imports({ site, close }: { site: Schemas['Site']; close: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const [dialog, ask] = useConfirm()
  const queryKey = ['stats-imports', site.id]
  const path = { id: site.id }
  const list = useQuery({
    queryKey,
    queryFn: async () => (await unwrap(api.GET('/api/v1/sites/{id}/imports', { params: { path } }))).imports,
  })
  const [source, setSource] = useState<Source>('plausible')
  const settled = () => {
    void client.invalidateQueries({ queryKey })
    void client.invalidateQueries({ queryKey: ['report'] })
  }
  const add = useAct({
    send: (file: File) =>
      unwrap(
        api.POST('/api/v1/sites/{id}/imports', {
          params: { path, query: { source } },
          body: file as unknown as string,
          bodySerializer: () => file,
          headers: { 'Content-Type': 'application/octet-stream' },
        }),
      ),
    settled,
    done: () => undefined,
    failed: false,
  })
  const remove = useAct({
    send: (id: string) =>
      unwrap(api.DELETE('/api/v1/sites/{id}/imports/{import}', { params: { path: { ...path, import: id } } })),
    settled,
    done: () => t('act.removed'),
  })
  const day = (text: string) => formatTime(`${text}T00:00:00Z`, i18n.language, 'UTC', 'day')
  return (
    <Modal opened onClose={close} size="lg" title={t('imports.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      {dialog}
      <Stack>
        <Text size="sm" c="dimmed">
          {t('imports.text')}
        </Text>
        <Group align="flex-end" gap="sm" className="dl-form">
          <Select
            label={t('imports.source')}
            allowDeselect={false}
            value={source}
            onChange={(v) => v && setSource(v as Source)}
            data={Object.entries(sources).map(([value, label]) => ({ value, label }))}
            style={{ flex: '1 1 12rem' }}
          />
          <FileButton
            onChange={(f) => f && add.mutate(f)}
            accept=".zip,.csv,.json,.gz"
            inputProps={{ 'aria-label': t('imports.choose') }}
          >
            {(props) => (
              <Button {...props} loading={add.isPending} leftSection={<IconUpload size={18} aria-hidden />}>
                {t('imports.choose')}
              </Button>
            )}
          </FileButton>
        </Group>
        <Text size="sm">{t(`imports.files.${source}`)}</Text>
        {add.error && (
          <Alert color="red" role="alert">
            {errorText(add.error)}
          </Alert>
        )}
        {list.error ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : (
          list.data?.map((i) => {
            const name = `${sources[i.source]}, ${day(i.from)} – ${day(i.to)}`
            return (
              <Group key={i.id} justify="space-between" wrap="nowrap" className="dl-card" p="sm" data-import={i.source}>
                <div>
                  <Text fw={600}>{name}</Text>
                  <Text size="sm" c="dimmed">
                    {t('imports.views', { count: i.views, views: formatMetric(i.views, 'count', i18n.language) })}
                  </Text>
                </div>
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={t('imports.remove', { name })}
                  loading={remove.isPending && remove.variables === i.id}
                  onClick={() =>
                    ask({
                      title: t('imports.removeTitle'),
                      text: t('imports.removeText', { name }),
                      action: t('imports.confirm'),
                      danger: true,
                      run: () => remove.mutate(i.id),
                    })
                  }
                >
                  <IconTrash size={18} aria-hidden />
                </ActionIcon>
              </Group>
            )
          })
        )}
      </Stack>
    </Modal>
  )
}
