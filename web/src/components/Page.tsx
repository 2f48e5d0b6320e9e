import { Box, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

/** A page: its heading, actions and content. */
export function Page({
  title,
  above,
  lead,
  actions,
  children,
}: {
  title: string
  /** The way back, above the heading. */
  above?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Dateline`
  }, [title])
  useEffect(() => {
    // On narrow screens, tabs scroll: the selected one is visible.
    for (const tab of document.querySelectorAll<HTMLElement>(
      '.mantine-Tabs-tab[data-active], .dl-row-scroll > [aria-current=page], .mantine-SegmentedControl-control[data-active]',
    )) {
      const line = tab.parentElement
      if (line && line.scrollWidth > line.clientWidth)
        line.scrollLeft = tab.offsetLeft - (line.clientWidth - tab.offsetWidth) / 2
    }
  })
  useEffect(() => {
    // After a menu link, focus moves to the page and does not stay in the menu.
    if (document.activeElement?.closest('nav, header')) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <Box maw={1440} mx="auto">
      {above && <Box mb="xs">{above}</Box>}
      <Group justify="space-between" align="flex-end" mb="md" gap="sm">
        <div style={lead ? { flex: '1 1 20rem', minWidth: 0 } : undefined}>
          <Title order={1} size="h2" ref={heading} tabIndex={-1} className="dl-heading">
            {title}
          </Title>
          {lead && (
            <Text c="dimmed" component="div" maw={720}>
              {lead}
            </Text>
          )}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Box>
  )
}
