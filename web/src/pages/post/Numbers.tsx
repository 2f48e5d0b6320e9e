import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { NotLoaded } from '../../components/states'

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, n) => all + n, 0)

/** The readers and clicks of a post. Absent if readers are not counted. */
export function Numbers({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const stored = useQuery({
    queryKey: ['post', id, 'stats'],
    retry: false,
    refetchInterval: 10_000,
    queryFn: () => unwrap(api.GET('/api/v1/posts/{id}/stats', { params: { path: { id } } })),
  })
  const stats = stored.data
  if (!stats) return <NotLoaded what={t('nav.readers')} queries={[stored]} />
  // A post without a link to a site has no readers to count.
  if (stats.views + stats.clicks + stats.uniques.day + sum(stats.filtered) === 0) return null
  const number = new Intl.NumberFormat(i18n.language)
  const filtered = sum(stats.filtered)
  return (
    <Stack gap="xs" className="dl-card" p="md" component="section" aria-label={t('nav.readers')}>
      <Title order={2} size="h4">
        {t('nav.readers')}
      </Title>
      <SimpleGrid cols={{ base: 2, xs: 4 }}>
        {(
          [
            ['views', stats.views],
            ['clicks', stats.clicks],
            ['uniquesToday', stats.uniques.day],
            ['filtered', filtered],
          ] as const
        ).map(([name, n]) => (
          <div key={name}>
            <Text size="sm" c="dimmed">
              {t(`readers.${name}`)}
            </Text>
            <Group gap={4}>
              <Text size="xl" fw={700} className="dl-numbers">
                {number.format(n)}
              </Text>
            </Group>
          </div>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
