import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Progress } from '../../components/Progress'
import { Failed } from '../../components/states'
import { Time } from '../../components/Time'
import { base } from '../../boot'
import { useAct } from '../../lib/act'

type Export = Schemas['WorkspaceExport']

const shown = 5

const isActive = (e: Export) => e.status === 'pending' || e.status === 'running'

/** The rows are written first, then the files. */
function progressOf(e: Export): { part: 'rows' | 'files'; done: number; total: number | undefined } {
  if (e.files_total !== undefined && e.files_total > 0) return { part: 'files', done: e.files, total: e.files_total }
  return { part: 'rows', done: Object.values(e.rows).reduce((sum, n) => sum + n, 0), total: e.rows_total }
}

/** The exports of the workspace: owners start, cancel and download them. */
export function Exports() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const queryKey = ['workspace-exports']
  const list = useQuery({
    queryKey,
    queryFn: async () => (await unwrap(api.GET('/api/v1/workspace/exports'))).exports,
    refetchInterval: (q) => (q.state.data?.some(isActive) ? 1000 : false),
  })
  const settled = () => void client.invalidateQueries({ queryKey })
  const start = useAct<void, Export>({
    send: () => unwrap(api.POST('/api/v1/workspace/exports')),
    done: () => undefined,
    settled,
  })
  const cancel = useAct<string, Export>({
    send: (id) => unwrap(api.DELETE('/api/v1/workspace/exports/{id}', { params: { path: { id } } })),
    done: () => undefined,
    settled,
  })
  const size = (bytes: number) =>
    new Intl.NumberFormat(i18n.language, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(
      bytes / 1e6,
    )
  return (
    <Stack gap="xs" component="section" aria-label={t('exports.title')} maw={560} mt="xl">
      <Title order={2} size="h4">
        {t('exports.title')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('exports.text')}
      </Text>
      {list.error && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data?.slice(0, shown).map((e) => {
        const { part, done, total } = progressOf(e)
        return (
          <div key={e.id} className="dl-card" style={{ padding: 'var(--mantine-spacing-sm)' }} data-export={e.status}>
            {isActive(e) ? (
              <Progress
                key={part}
                label={t(e.status === 'pending' ? 'exports.pending' : `exports.${part}`)}
                done={done}
                total={total}
                at={list.dataUpdatedAt}
                cancel={() => cancel.mutate(e.id)}
                canceling={cancel.isPending}
              />
            ) : (
              <Group justify="space-between">
                <Text size="sm">
                  {t(`exports.status.${e.status as 'done' | 'failed' | 'expired' | 'canceled'}`)} ·{' '}
                  <Time at={e.requested_at} look="short" />
                  {e.bytes !== undefined && ` · ${size(e.bytes)}`}
                </Text>
                {e.status === 'done' && (
                  <Anchor size="sm" href={`${base}/api/v1/workspace/exports/${e.id}/archive`} download>
                    {t('exports.download')}
                  </Anchor>
                )}
              </Group>
            )}
          </div>
        )
      })}
      <Group>
        <Button
          variant="default"
          loading={start.isPending}
          disabled={list.data?.some(isActive)}
          onClick={() => start.mutate()}
        >
          {t('exports.start')}
        </Button>
      </Group>
    </Stack>
  )
}
