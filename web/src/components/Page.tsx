import { Box, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** A page: its heading, what can be done on it, and its content. */
export function Page({ title, lead, actions, children }: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Dateline`
  }, [title])
  return (
    <Box maw={1440} mx="auto">
      <Group justify="space-between" align="flex-end" mb="md" gap="sm">
        <div>
          <Title order={1} size="h2">
            {title}
          </Title>
          {lead && (
            <Text c="dimmed" component="div">
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
