import { Box, Button, Collapse, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../api/client'

/** UTM parameters by name without utm_; an empty value removes a default. */
export type Utm = Schemas['UtmParams']

export const utmNames = ['source', 'medium', 'campaign', 'content', 'term'] as const

/** Later parameters replace earlier ones; an empty one removes them. */
export function mergeUtm(...all: (Utm | undefined)[]): Utm {
  const merged: Utm = Object.assign({}, ...all)
  return Object.fromEntries(utmNames.filter((name) => merged[name]).map((name) => [name, merged[name] as string]))
}

/** The parameters as in an address. */
export const utmQuery = (utm: Utm): string =>
  utmNames
    .filter((name) => utm[name])
    .map((name) => `utm_${name}=${utm[name]}`)
    .join('&')

/** Edits UTM parameters. defaults are shown where no value is entered. */
export function UtmFields({
  value,
  change,
  defaults = {},
  label,
}: {
  value: Utm
  change: (utm: Utm) => void
  defaults?: Utm
  label: string
}) {
  const { t } = useTranslation()
  const [opened, { toggle }] = useDisclosure(false)
  const set = (name: string, text: string) => {
    const { [name]: _, ...others } = value
    change(text === '' ? others : { ...others, [name]: text })
  }
  return (
    <Box>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={opened}
        onClick={toggle}
        rightSection={
          <IconChevronDown size={14} aria-hidden style={{ transform: opened ? 'rotate(180deg)' : undefined }} />
        }
      >
        {label}
      </Button>
      <Collapse expanded={opened}>
        <Stack gap="xs" mt="xs" role="group" aria-label={label}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
            {utmNames.map((name) => (
              <TextInput
                key={name}
                size="xs"
                label={t(`utm.${name}`)}
                maxLength={100}
                value={value[name] ?? ''}
                placeholder={defaults[name] || `utm_${name}`}
                onChange={(e) => set(name, e.currentTarget.value)}
              />
            ))}
          </SimpleGrid>
          <Text size="xs" c="dimmed">
            {t('utm.help')}
          </Text>
        </Stack>
      </Collapse>
    </Box>
  )
}
