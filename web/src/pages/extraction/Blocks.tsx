import { ActionIcon, Alert, Anchor, Badge, Group, Menu, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { NoArticle } from '../../components/NoArticle'
import { Failed, Waiting } from '../../components/states'
import { useAtLeast } from '../../lib/session'
import { useMark } from './useMark'

type Block = Schemas['PageBlock']

/** Reasons of blocks that are rarely taken for text, and that every page has many of. */
const distant = new Set<Block['reason']>(['navigation', 'links', 'hidden'])

/** The blocks of a page: which are the text of its article, and why the others are not. */
export function Blocks({ domain, article }: { domain: string; article: string }) {
  const { t } = useTranslation()
  const may = useAtLeast('editor')
  const [shown, setShown] = useState('near')
  const page = useQuery({
    queryKey: ['extracted', domain, article],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(api.GET('/api/v1/domains/{domain}/extraction/pages/{id}', { params: { path: { domain, id: article } } })),
  })
  if (page.error) return <Failed error={page.error} retry={() => void page.refetch()} />
  if (!page.data) return <Waiting />
  const p = page.data
  const blocks = (p.blocks ?? []).filter((b) => shown === 'all' || b.is_marked || !distant.has(b.reason))
  return (
    <Stack gap="sm" className="dl-card" p="md" component="section" aria-label={t('extraction.blocks')}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4" className="dl-text" data-user-text>
          {p.title}
        </Title>
        <Anchor href={p.url} target="_blank" rel="noreferrer nofollow" size="sm">
          {t('article.source')}
        </Anchor>
      </Group>
      {p.error && (
        <Alert color="red" role="status">
          <NoArticle reason={p.error_reason} detail={p.error} />
        </Alert>
      )}
      <SegmentedControl
        aria-label={t('extraction.show')}
        value={shown}
        onChange={setShown}
        data={[
          { value: 'near', label: t('extraction.near') },
          { value: 'all', label: t('extraction.all') },
        ]}
      />
      <Stack gap={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {blocks.map((b, i) => (
          <Group
            key={`${i} ${b.text.slice(0, 40)}`}
            component="li"
            wrap="nowrap"
            align="flex-start"
            gap="xs"
            pl="sm"
            data-block={b.in_text ? 'text' : b.reason}
            style={{
              borderLeft: `3px solid var(--mantine-color-${b.in_text ? 'green' : 'gray'}-5)`,
            }}
          >
            <div style={{ flex: 1, minWidth: 0 }}>
              <Text size="sm" className="dl-text" c={b.in_text ? undefined : 'dimmed'} data-user-text>
                {b.text.length > 400 ? `${b.text.slice(0, 400)}…` : b.text}
              </Text>
              {(!b.in_text || b.is_marked) && (
                <Badge variant="light" tt="none" size="sm" color={b.is_marked ? 'grape' : 'gray'}>
                  {b.in_text ? t('extraction.markedBody') : t(`extraction.reasons.${b.reason ?? 'unlikely'}`)}
                </Badge>
              )}
            </div>
            {may && <Mark domain={domain} block={b} />}
          </Group>
        ))}
      </Stack>
    </Stack>
  )
}

/** Marks a block, or the elements around it, as the opposite of what it is now. */
function Mark({ domain, block: b }: { domain: string; block: Block }) {
  const { t } = useTranslation()
  const mark = useMark(domain)
  const is_body = !b.in_text
  return (
    <Menu position="bottom-end" width={340}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          loading={mark.isPending}
          aria-label={t('extraction.change', { text: b.text.slice(0, 40) })}
        >
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(is_body ? 'extraction.isText' : 'extraction.isNoText')}</Menu.Label>
        <Menu.Item onClick={() => mark.mutate({ is_body, text: b.text })}>{t('extraction.thisText')}</Menu.Item>
        {b.elements.map((element) => (
          <Menu.Item key={element} onClick={() => mark.mutate({ is_body, element })}>
            <Text size="sm">{t('extraction.allIn')}</Text>
            <Text size="xs" ff="monospace" className="dl-text">
              {element}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
