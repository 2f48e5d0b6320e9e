import { ActionIcon, Alert, Button, FileButton, Group, Select, Stack, Text } from '@mantine/core'
import { IconTrash, IconUpload } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, ApiError, proxyTooLarge, type Schemas, unreachable, unwrap } from '../../api/client'
import { send } from '../../api/upload'
import { base } from '../../boot'
import { useConfirm } from '../../components/Confirm'
import { Failed } from '../../components/states'
import { Modal } from '../../components/Modal'
import { Progress } from '../../components/Progress'
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

const isCanceled = (error: unknown) =>
  (error instanceof ApiError && error.code === 'import_canceled') ||
  (error instanceof DOMException && error.name === 'AbortError')

/** Uploads a file, and returns when everything is stored. */
async function importFile(path: string, file: File, signal: AbortSignal, sent: (bytes: number) => void) {
  sent(0)
  const headers = { 'Content-Type': 'application/octet-stream' }
  const answer = await send({ method: 'POST', url: `${base}${path}`, body: file, headers, sent, signal })
  if (answer.status === 0) throw new ApiError(unreachable, { code: 'unreachable' })
  if (answer.status === 413 && !answer.response) throw new ApiError(413, { code: proxyTooLarge })
  if (answer.status >= 300) throw new ApiError(answer.status, (answer.response ?? {}) as object)
}

/** Imports the statistics of other products into a site's reports, and removes them. */
export function Imports({ site, close }: { site: Schemas['Site']; close: () => void }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const [dialog, ask] = useConfirm()
  const queryKey = ['stats-imports', site.id]
  const path = { id: site.id }
  const [sent, setSent] = useState<{ file: File; bytes: number; at: number }>()
  const uploading = sent !== undefined && sent.bytes < sent.file.size
  const list = useQuery({
    queryKey,
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/imports', { params: { path } })),
    refetchInterval: (q) => (sent || q.state.data?.running.length ? 1000 : false),
  })
  const [source, setSource] = useState<Source>('plausible')
  const settled = () => {
    void client.invalidateQueries({ queryKey })
    void client.invalidateQueries({ queryKey: ['report'] })
  }
  const upload = useRef(new AbortController())
  const add = useAct({
    send: (file: File) => {
      upload.current = new AbortController()
      return importFile(`/api/v1/sites/${site.id}/imports?source=${source}`, file, upload.current.signal, (bytes) =>
        setSent({ file, bytes, at: performance.now() }),
      )
    },
    settled: () => {
      setSent(undefined)
      settled()
    },
    done: () => undefined,
    failed: false,
  })
  const remove = useAct({
    send: (id: string) =>
      unwrap(api.DELETE('/api/v1/sites/{id}/imports/{import}', { params: { path: { ...path, import: id } } })),
    settled,
    done: () => t('act.removed'),
  })
  const cancel = useAct({
    send: (id: string) =>
      unwrap(api.DELETE('/api/v1/sites/{id}/imports/{import}', { params: { path: { ...path, import: id } } })),
    settled,
    done: () => undefined,
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
        {uploading && (
          <Progress
            label={t('imports.uploading', { name: sent.file.name })}
            done={sent.bytes}
            total={sent.file.size}
            at={sent.at}
            unit="bytes"
            cancel={() => upload.current.abort()}
          />
        )}
        {list.data?.running.map((r) => (
          <div key={r.id} data-running={r.source}>
            <Progress
              label={t(r.progress.total ? 'imports.storing' : 'imports.reading', { source: sources[r.source] })}
              done={r.progress.done}
              total={r.progress.total}
              at={list.dataUpdatedAt}
              cancel={() => cancel.mutate(r.id)}
              canceling={cancel.isPending}
            />
          </div>
        ))}
        {add.error && (
          <Alert color={isCanceled(add.error) ? 'gray' : 'red'} role="alert">
            {isCanceled(add.error) ? t('imports.canceled') : errorText(add.error)}
          </Alert>
        )}
        {list.error ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : (
          list.data?.imports.map((i) => {
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
