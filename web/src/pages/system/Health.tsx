import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, ApiError, type Schemas, unreachable } from '../../api/client'
import { Failed, WaitingRows } from '../../components/states'

/** Shows whether the engines respond and workers poll. "Not ready" is a response with status 503. */
async function readiness(): Promise<Schemas['Readiness']> {
  const { data, error } = await api.GET('/readyz').catch(() => {
    throw new ApiError(unreachable, { code: 'unreachable' })
  })
  return (data ?? error) as Schemas['Readiness']
}

export function Health() {
  const { t, i18n } = useTranslation()
  const ready = useQuery({ queryKey: ['readyz'], queryFn: readiness, refetchInterval: 5000 })
  if (ready.error) return <Failed error={ready.error} retry={() => void ready.refetch()} />
  if (!ready.data) return <WaitingRows height={60} />
  const ms = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 })
  return (
    <Stack>
      <Alert
        color={ready.data.ready ? 'green' : 'red'}
        title={t(ready.data.ready ? 'system.ready' : 'system.notReady')}
        role="status"
      />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {Object.entries(ready.data.checks).map(([name, said]) => (
          <Group key={name} className="dl-card" p="md" gap="sm" wrap="nowrap" data-check={name}>
            {said === 'ok' ? (
              <IconCircleCheck color="var(--mantine-color-green-6)" aria-hidden />
            ) : (
              <IconCircleX color="var(--mantine-color-red-6)" aria-hidden />
            )}
            <div>
              <Text fw={600}>{name}</Text>
              <Text size="sm" c="dimmed" className="dl-text">
                {said === 'ok' ? t('system.ok') : said}
              </Text>
            </div>
          </Group>
        ))}
      </SimpleGrid>
      {ready.data.clock && (
        <Text size="sm" c="dimmed">
          {t('system.clock', {
            ms: ms.format(ready.data.clock.offset_ms),
            within: ms.format(ready.data.clock.uncertainty_ms),
          })}
        </Text>
      )}
    </Stack>
  )
}
