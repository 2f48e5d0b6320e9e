import { Box, Group, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Time } from '../../components/Time'
import { Marked } from './Marked'
import type { Row, useArticles } from './useArticles'

/** The list of articles. Only visible rows are rendered. */
export function Results({ rows, found }: { rows: Row[]; found: ReturnType<typeof useArticles>['found'] }) {
  const { t } = useTranslation()
  const narrow = useMediaQuery('(max-width: 600px)') ?? false
  const top = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => {
    const above = top.current ? Math.round(top.current.getBoundingClientRect().top + scrollY) : 0
    setMargin((was) => (Math.abs(was - above) > 1 ? above : was))
  })
  const sight = useWindowVirtualizer({
    count: rows.length + (found.hasNextPage ? 1 : 0),
    estimateSize: () => 96,
    overscan: 8,
    scrollMargin: margin,
  })
  const last = sight.getVirtualItems().at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found
  useEffect(() => {
    if (last >= rows.length - 40 && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage])
  return (
    <Box
      ref={top}
      className="dl-card"
      role="list"
      aria-label={t('news.articles')}
      pos="relative"
      h={sight.getTotalSize()}
      style={{ overflow: 'hidden' }}
    >
      {sight.getVirtualItems().map((item) => {
        const row = rows[item.index]
        return (
          <Box
            key={item.key}
            ref={sight.measureElement}
            data-index={item.index}
            role="listitem"
            pos="absolute"
            top={0}
            left={0}
            w="100%"
            style={{ transform: `translateY(${item.start - margin}px)` }}
          >
            {row ? (
              <Hit row={row} narrow={narrow} />
            ) : (
              <Text p="md" c="dimmed">
                {t('state.loading')}
              </Text>
            )}
          </Box>
        )
      })}
    </Box>
  )
}

function Hit({ row, narrow }: { row: Row; narrow: boolean }) {
  return (
    <Link to="/news/articles/$id" params={{ id: row.id }} className="dl-link-box dl-hit" data-article={row.id}>
      <Text fw={600} lineClamp={narrow ? 2 : 1} lang={row.language || undefined}>
        <Marked fragments={row.heading} />
      </Text>
      <Text size="sm" lineClamp={2} lang={row.language || undefined} c={row.snippet.length > 0 ? undefined : 'dimmed'}>
        <Marked fragments={row.snippet} />
      </Text>
      <Group gap="xs" wrap="nowrap" mt={4}>
        <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
          <Time at={row.at} />
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[row.domain, row.section, row.authors.join(', ')].filter(Boolean).join(' · ')}
        </Text>
      </Group>
    </Link>
  )
}
