import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import { IconCheck, IconCopy, IconRss } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../api/client'
import { useAct } from '../lib/act'

/** Creates the feed URLs of a saved search, which are shown once. */
export function Feed({ id, open }: { id: string; open: boolean }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const params = { path: { id } }
  const settled = () => void client.invalidateQueries({ queryKey: ['saved-searches'] })
  const make = useAct({
    send: () => unwrap(api.POST('/api/v1/saved-searches/{id}/feed', { params })),
    settled,
    done: () => undefined,
  })
  const end = useAct({
    send: () => unwrap(api.DELETE('/api/v1/saved-searches/{id}/feed', { params })),
    accepted: () => {
      make.reset()
    },
    settled,
    done: () => t('saved.feedEnded'),
  })
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t(open ? 'saved.feedOpen' : 'saved.feedNone')}
      </Text>
      {make.data && (
        <Stack gap="xs" role="status">
          <Text size="sm">{t('saved.feedOnce')}</Text>
          {(
            [
              ['rss', make.data.rss],
              ['json', make.data.json_feed],
            ] as const
          ).map(([format, url]) => (
            <Group key={format} gap="xs" wrap="nowrap" align="flex-start">
              <Code
                block
                flex={1}
                miw={0}
                tabIndex={0}
                aria-label={t(`saved.${format}`)}
                style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
                data-feed={format}
              >
                {url}
              </Code>
              <CopyButton value={url}>
                {({ copied, copy }) => (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={copy}
                    leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
                    aria-label={`${t('copy')}: ${t(`saved.${format}`)}`}
                  >
                    {t(copied ? 'copied' : `saved.${format}`)}
                  </Button>
                )}
              </CopyButton>
            </Group>
          ))}
        </Stack>
      )}
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRss size={16} aria-hidden />}
          loading={make.isPending}
          onClick={() => make.mutate()}
        >
          {t(open ? 'saved.feedAgain' : 'saved.feedMake')}
        </Button>
        {open && (
          <Button size="xs" variant="subtle" color="red" loading={end.isPending} onClick={() => end.mutate()}>
            {t('saved.feedEnd')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
